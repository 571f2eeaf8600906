package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// Where clients that are not ours are; .ci/bench finds or installs them. An empty
// one is left out of the comparison, and said to be missing.
const (
	pythonEnv = "SPECSWEEP_BENCH_PYTHON" // with aiohttp
	vegetaEnv = "SPECSWEEP_BENCH_VEGETA"
	wrkEnv    = "SPECSWEEP_BENCH_WRK"
	vllmEnv   = "SPECSWEEP_BENCH_VLLM"
	// tokenizerEnv is a folder with any tokenizer, for vllm.
	tokenizerEnv = "SPECSWEEP_BENCH_TOKENIZER"
)

// others are the clients that are not ours, for a manner.
func others(tb testing.TB, manner string) []rival {
	var list []rival
	add := func(name, env string, make func(tb testing.TB, tool, manner string) rival) {
		tool := os.Getenv(env)
		if tool == "" {
			tb.Logf("%s is missing: set %s", name, env)
			return
		}
		list = append(list, make(tb, tool, manner))
	}
	add("aiohttp", pythonEnv, aiohttp)
	if manner == plain {
		add("vegeta", vegetaEnv, vegeta)
		add("wrk", wrkEnv, wrk)
	}
	return list
}

// bodyFile is a file with the body of the manner's requests.
func bodyFile(tb testing.TB, manner string) string {
	bodies, err := job{Stream: manner != plain}.bodies(1)
	if err != nil {
		tb.Fatal(err)
	}
	return file(tb, "body.json", bodies[0])
}

func file(tb testing.TB, name string, text []byte) string {
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

func aiohttp(tb testing.TB, python, manner string) rival {
	n := 6_000
	if manner != plain {
		n = 2_000
	}
	script, err := filepath.Abs("../../../../.ci/bench-clients/aiohttp_loop.py")
	if err != nil {
		tb.Fatal(err)
	}
	body := bodyFile(tb, manner)
	return rival{"aiohttp", func(root string) *exec.Cmd {
		return pinned(tb, python, script, root+"/"+manner+chatPath, body,
			strconv.Itoa(inFlight), strconv.Itoa(warmUp), strconv.Itoa(requests(tb, n)))
	}, readOutcome}
}

// seconds is how long the tools attack that count in time.
func seconds(tb testing.TB) time.Duration {
	return time.Duration(requests(tb, 2_000)) * time.Millisecond
}

// vegeta attacks without a rate, which makes it a closed loop, and keeps what it
// does by default, the answers' bodies included.
func vegeta(tb testing.TB, tool, manner string) rival {
	body, out := bodyFile(tb, manner), filepath.Join(tb.TempDir(), "vegeta.bin")
	return rival{"vegeta", func(root string) *exec.Cmd {
		targets := file(tb, "targets", fmt.Appendf(nil, "POST %s/%s%s\nContent-Type: application/json\n@%s\n", root, manner, chatPath, body))
		return pinned(tb, tool, "attack", "-rate=0", "-max-workers="+strconv.Itoa(inFlight), "-workers="+strconv.Itoa(inFlight),
			"-duration="+seconds(tb).String(), "-targets="+targets, "-output="+out)
	}, func([]byte) (outcome, error) {
		text, err := exec.CommandContext(tb.Context(), tool, "report", "-type=json", out).Output()
		if err != nil {
			return outcome{}, fmt.Errorf("%s report: %w", tool, err)
		}
		var report struct {
			Requests       int
			Success        float64
			Duration, Wait time.Duration
		}
		if err := json.Unmarshal(text, &report); err != nil {
			return outcome{}, fmt.Errorf("%s report: %w", tool, err)
		}
		if report.Success != 1 {
			return outcome{}, fmt.Errorf("%s: %g of its requests succeeded", tool, report.Success)
		}
		return outcome{report.Requests, (report.Duration + report.Wait).Seconds()}, nil
	}}
}

// wrkLine is what wrk says when it is done.
var wrkLine = regexp.MustCompile(`(\d+) requests in ([\d.]+)s`)

// wrk reads no more of an answer than where it ends: what the server and the
// sockets bear.
func wrk(tb testing.TB, tool, manner string) rival {
	body, err := os.ReadFile(bodyFile(tb, manner))
	if err != nil {
		tb.Fatal(err)
	}
	script := file(tb, "post.lua", fmt.Appendf(nil, "wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = [==[%s]==]\n", body))
	return rival{"wrk", func(root string) *exec.Cmd {
		duration := strconv.Itoa(max(int(seconds(tb).Seconds()), 1)) + "s"
		return pinned(tb, tool, "-t1", "-c"+strconv.Itoa(inFlight), "-d"+duration, "-s", script, root+"/"+manner+chatPath)
	}, func(text []byte) (o outcome, err error) {
		m := wrkLine.FindSubmatch(text)
		if m == nil {
			return o, fmt.Errorf("wrk says no %q", wrkLine)
		}
		if o.Requests, err = strconv.Atoi(string(m[1])); err == nil {
			o.Seconds, err = strconv.ParseFloat(string(m[2]), 64)
		}
		return o, err
	}}
}

// vllm is `vllm bench serve` with random prompts: it will not start without a
// tokenizer. It counts its own start out of its duration.
func vllm(tb testing.TB, tool, manner string) rival {
	dir, n, tokenizer := tb.TempDir(), requests(tb, 1_000), os.Getenv(tokenizerEnv)
	if tokenizer == "" {
		tb.Fatalf("%s is set, but %s is not: see .ci/bench-tools", vllmEnv, tokenizerEnv)
	}
	return rival{"vllm", func(root string) *exec.Cmd {
		cmd := pinned(tb, tool, "bench", "serve", "--backend", "openai-chat", "--base-url", root+"/"+manner, "--endpoint", chatPath,
			"--model", "toy-target", "--tokenizer", tokenizer, "--dataset-name", "random", "--random-input-len", "64",
			"--random-output-len", strconv.Itoa(streamTokens), "--num-prompts", strconv.Itoa(n),
			"--max-concurrency", strconv.Itoa(inFlight), "--disable-tqdm",
			"--save-result", "--result-dir", dir, "--result-filename", "result.json")
		cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1")
		return cmd
	}, func([]byte) (outcome, error) {
		text, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			return outcome{}, err
		}
		var result struct {
			Completed int
			Duration  float64
		}
		if err := json.Unmarshal(text, &result); err != nil {
			return outcome{}, err
		}
		if result.Completed != n {
			return outcome{}, fmt.Errorf("vllm bench serve: %d of %d completed", result.Completed, n)
		}
		return outcome{n, result.Duration}, nil
	}}
}
