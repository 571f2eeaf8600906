package sim

import "maps"

// streaming: vLLM sends the last tokens with the finish reason. Its fingerprint
// stands in the last chunk only, whichever that is; so do the counts of the drafts.
func (vllm) streaming(conf Config, c completion) streaming {
	choice := func(delta map[string]any, reason any) map[string]any {
		return map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}
	}
	opening := c.chunk(choice(map[string]any{"role": "assistant", "content": ""}, nil))
	opening["prompt_token_ids"], opening["prompt_text"] = nil, nil
	text := func(text string, reason any) map[string]any {
		e := choice(map[string]any{"content": text}, reason)
		e["token_ids"] = nil
		return e
	}
	return streaming{
		kind: "text/event-stream; charset=utf-8", opening: opening,
		delta: func(t string) any { return c.chunk(text(t, nil)) },
		ending: func(c completion, last string) []any {
			e := text(last, c.reason)
			e["stop_reason"] = nil
			end := c.chunk(e)
			chunks := []any{end}
			if c.asks.Stream.IncludeUsage {
				end = c.chunk()
				end["usage"] = c.usage()
				chunks = append(chunks, end)
			}
			end["system_fingerprint"] = "vllm-simulated"
			if conf.RequestDetails && !conf.NoSpec {
				end["metrics"] = map[string]any{"speculative_decoding": c.drafts.summary(conf.positions())}
			}
			return chunks
		},
	}
}

// streaming: SGLang's finish reason, its counts of the drafts and its usage have a
// chunk each.
func (sglang) streaming(conf Config, c completion) streaming {
	choice := func(role, content, reason any) map[string]any {
		delta := map[string]any{"role": role, "content": content, "reasoning_content": nil, "tool_calls": nil}
		return map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason, "matched_stop": nil}
	}
	chunk := func(choices ...any) map[string]any {
		e := c.chunk(choices...)
		e["usage"] = nil
		return e
	}
	return streaming{
		kind: "text/event-stream; charset=utf-8", opening: chunk(choice("assistant", "", nil)),
		delta: func(t string) any { return chunk(choice(nil, t, nil)) },
		ending: func(c completion, last string) []any {
			end := choice(nil, nil, c.reason)
			if meta := c.metaInfo(conf); meta != nil {
				end["meta_info"] = meta
			}
			chunks := []any{chunk(choice(nil, last, nil)), chunk(end)}
			if details := c.specDetails(conf); details != nil {
				e := chunk()
				e["sglext"] = details
				chunks = append(chunks, e)
			}
			if c.asks.Stream.IncludeUsage {
				e := chunk()
				usage := c.usage()
				maps.Copy(usage, map[string]any{"prompt_tokens_details": nil, "reasoning_tokens": 0})
				e["usage"] = usage
				chunks = append(chunks, e)
			}
			return chunks
		},
	}
}

// streaming: llama.cpp's timings stand in the last chunk, whichever that is.
func (llamacpp) streaming(_ Config, c completion) streaming {
	chunk := func(choices ...any) map[string]any {
		e := c.chunk(choices...)
		e["system_fingerprint"] = "simulated"
		return e
	}
	choice := func(delta map[string]any, reason any) map[string]any {
		return map[string]any{"finish_reason": reason, "index": 0, "delta": delta}
	}
	text := func(t string) any { return chunk(choice(map[string]any{"content": t}, nil)) }
	return streaming{
		kind: "text/event-stream", opening: chunk(choice(map[string]any{"role": "assistant", "content": nil}, nil)),
		delta: text,
		ending: func(c completion, last string) []any {
			end := chunk(choice(map[string]any{}, c.reason))
			chunks := []any{text(last), end}
			if c.asks.Stream.IncludeUsage {
				end = chunk()
				usage := c.usage()
				usage["prompt_tokens_details"] = map[string]any{"cached_tokens": c.cached}
				end["usage"] = usage
				chunks = append(chunks, end)
			}
			end["timings"] = c.timings()
			return chunks
		},
	}
}
