"""A closed loop on aiohttp, as most Python load generators have at their core.

Usage: aiohttp_loop.py URL BODY-FILE CONCURRENCY WARM-UP REQUESTS

Answers in one piece are decoded, streams are read line by line and each event is
decoded. It prints {"Requests": …, "Seconds": …} of the requests after the warm-up.
"""

import asyncio
import json
import sys
import time

import aiohttp


async def whole(response):
    return json.loads(await response.read())["usage"]["completion_tokens"]


async def stream(response):
    tokens = 0
    async for line in response.content:
        if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
            continue
        event = json.loads(line[6:])
        if event["choices"] and event["choices"][0]["delta"].get("content"):
            tokens += 1
    return tokens


async def loop(session, url, body, concurrency, requests):
    streamed = json.loads(body).get("stream", False)
    read, want = (stream, 64) if streamed else (whole, 256)
    left = iter(range(requests))

    async def worker():
        for _ in left:
            async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as response:
                response.raise_for_status()
                if (got := await read(response)) != want:
                    raise SystemExit(f"{got} tokens, want {want}")

    await asyncio.gather(*(worker() for _ in range(concurrency)))


async def main(url, body_file, concurrency, warm_up, requests):
    with open(body_file, "rb") as f:
        body = f.read()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await loop(session, url, body, int(concurrency), int(warm_up))
        start = time.monotonic()
        await loop(session, url, body, int(concurrency), int(requests))
        print(json.dumps({"Requests": int(requests), "Seconds": time.monotonic() - start}))


asyncio.run(main(*sys.argv[1:]))
