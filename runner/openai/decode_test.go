package openai

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Completion
	}{
		{"whole", good, Completion{
			Model: "toy-target", FinishReason: "stop", PromptTokens: ptr(12), CompletionTokens: ptr(8),
		}},
		{"white space around", "\n " + good + "\r\n", Completion{
			Model: "toy-target", FinishReason: "stop", PromptTokens: ptr(12), CompletionTokens: ptr(8),
		}},
		{"zero tokens are known", `{"choices":[{"message":{}}],"usage":{"completion_tokens":0}}`, Completion{CompletionTokens: ptr(0)}},
		{"cached", `{"choices":[{"message":{}}],"usage":{"prompt_tokens_details":{"cached_tokens":7}}}`, Completion{CachedTokens: ptr(7)}},
		{"no usage", `{"choices":[{"message":{}}]}`, Completion{}},
		{"null everywhere", `{"model":null,"error":null,"choices":[{"message":{},"finish_reason":null}],"usage":null}`, Completion{}},
		{"null counts", `{"choices":[{"message":{}}],"usage":{"completion_tokens":null,"prompt_tokens_details":null}}`, Completion{}},
		{"fraction", `{"choices":[{"message":{}}],"usage":{"completion_tokens":8.0}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"text", `{"choices":[{"message":{}}],"usage":{"completion_tokens":"8"}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"boolean", `{"choices":[{"message":{}}],"usage":{"completion_tokens":true}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"negative", `{"choices":[{"message":{}}],"usage":{"completion_tokens":-1}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"exponent", `{"choices":[{"message":{}}],"usage":{"completion_tokens":1e2}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"huge", `{"choices":[{"message":{}}],"usage":{"completion_tokens":123456789012345678901234567890}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"most", `{"choices":[{"message":{}}],"usage":{"completion_tokens":1099511627776}}`, Completion{CompletionTokens: ptr(1 << 40)}},
		{"beyond", `{"choices":[{"message":{}}],"usage":{"completion_tokens":1099511627777}}`, Completion{Invalid: InvalidCounts{Completion: true}}},
		{"others are no counts", `{"choices":[{"message":{}}],"usage":{"prompt_tokens":-3,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":"7"}}}`,
			Completion{CompletionTokens: ptr(8), Invalid: InvalidCounts{Prompt: true, Cached: true}}},
		{"no counts, keys with escapes", `{"choices":[{"message":{}}],"usage":{"prompt_token\u0073":-3,"prompt_tokens_details":{"cached_token\u0073":null}}}`,
			Completion{Invalid: InvalidCounts{Prompt: true}}},
		{"a message that says nothing", `{"choices":[{"message":{"content":null}},null]}`, Completion{}},
		{"a message beside a delta that is null", `{"choices":[{"message":{},"delta":null}]}`, Completion{}},
		{"a message behind a delta that is null", `{"choices":[{"delta":null,"message":{}}]}`, Completion{}},
		{"a message by an escaped name", `{"choices":[{"mess\u0061ge":{}}]}`, Completion{}},
		{"mistyped fields", `{"model":5,"choices":[{"message":{},"finish_reason":{}}],"usage":{"prompt_tokens_details":"x","completion_tokens":8}}`,
			Completion{CompletionTokens: ptr(8)}},
		{"error that reports none", `{"error":"","choices":[{"message":{}}],"usage":{"completion_tokens":8}}`, Completion{CompletionTokens: ptr(8)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got Completion
			if err := decode([]byte(tt.body), "", oneLine, new(scratch), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("decode() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct{ name, body, contentType, want string }{
		{"error object", `{"error":{"message":"out of\n memory"},"choices":[{"message":{}}]}`, "", "HTTP 200 with an error in its body: out of memory"},
		{"error of another shape", `{"error":{"code":7}}`, "", `HTTP 200 with an error in its body: {"code":7}`},
		{"error true", `{"error":true,"choices":[{"message":{}}]}`, "", "HTTP 200 with an error in its body: true"},
		{"no choices", `{}`, "", "the answer has no choices"},
		{"null choices", `{"choices":null}`, "", "the answer has no choices"},
		{"choices of another type", `{"choices":"x"}`, "", "the answer has no choices"},
		{"a choice that is null", `{"choices":[null]}`, "", errNoMessage.Error()},
		{"a choice that is a text", `{"choices":["hello"]}`, "", errNoMessage.Error()},
		{"a choice without a message", `{"choices":[{}],"usage":{"completion_tokens":8}}`, "", errNoMessage.Error()},
		{"a message that is null", `{"choices":[{"message":null}]}`, "", errNoMessage.Error()},
		{"a message that is a text", `{"choices":[{"message":"hello"}]}`, "", errNoMessage.Error()},
		{"a delta", `{"choices":[{"delta":{"content":"hello"}}]}`, "", errNoMessage.Error()},
		{"a list", `[]`, "", "the answer has no choices"},
		{"empty", " \n", "", "the answer is not JSON: it is empty"},
		{"a page", "<html>\n<b>502</b></html>", "", "the answer is not JSON: invalid character '<' looking for beginning of value: <html> <b>502</b></html>"},
		{"cut", `{"choices":[{}`, "", "the answer is not JSON: unexpected end of JSON input: {\"choices\":[{}"},
		{"two", `{"choices":[{"message":{}}]}{}`, "", "the answer is not JSON: invalid character '{' after top-level value: {\"choices\":[{\"message\":{}}]}{}"},
		{"events", "event: x\ndata: {}\n", "", errStream.Error()},
		{"event comment", ": keep-alive\n", "", errStream.Error()},
		{"said to be events", "", "text/event-stream; charset=utf-8", errStream.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got Completion
			err := decode([]byte(tt.body), tt.contentType, oneLine, new(scratch), &got)
			if err == nil || err.Error() != tt.want {
				t.Errorf("decode() error = %v, want %s", err, tt.want)
			}
			if diff := cmp.Diff(Completion{}, got); diff != "" {
				t.Errorf("decode() left something behind (-want +got):\n%s", diff)
			}
		})
	}
}

// The body decides, not the content type: JSON under any name is an answer.
func TestDecodeIgnoresContentType(t *testing.T) {
	for _, kind := range []string{"", "text/plain", "text/event-stream", "not a type;;"} {
		if err := decode([]byte(good), kind, oneLine, new(scratch), new(Completion)); err != nil {
			t.Errorf("decode() as %q: %v", kind, err)
		}
	}
}

// Answers as the engines send them.
func TestDecodeEngines(t *testing.T) {
	for file, want := range map[string]Completion{
		"vllm-0.32.0.json":   {Model: "tiny", FinishReason: "length", PromptTokens: ptr(20), CompletionTokens: ptr(48)},
		"sglang-0.5.23.json": {Model: "meta-llama/Llama-3.1-8B-Instruct", FinishReason: "length", PromptTokens: ptr(21), CompletionTokens: ptr(64)},
		"llama.cpp.json":     {Model: "gemma-3-270m", FinishReason: "length", PromptTokens: ptr(18), CompletionTokens: ptr(64), CachedTokens: ptr(0)},
	} {
		t.Run(file, func(t *testing.T) {
			var got Completion
			if err := decode(testdata(t, "answers/"+file), "application/json", oneLine, new(scratch), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decode() (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDecodeCompletion(f *testing.F) {
	f.Add([]byte(good))
	for _, pattern := range []string{"testdata/*/*.json", "testdata/T06/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s (%v)", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got Completion
		err := decode(body, "", oneLine, new(scratch), &got)
		if err != nil {
			if len(err.Error()) > 5*maxMessage || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Errorf("decode() error = %q, want one short line", err)
			}
			if diff := cmp.Diff(Completion{}, got); diff != "" {
				t.Errorf("decode() failed and left something behind (-want +got):\n%s", diff)
			}
			return
		}
		var oracle struct{ Choices hasSome }
		if _ = json.Unmarshal(body, &oracle); !oracle.Choices {
			t.Errorf("decode(%q) found choices", body)
		}
		for _, n := range []*int{got.PromptTokens, got.CompletionTokens, got.CachedTokens} {
			if n != nil && *n < 0 {
				t.Errorf("decode(%q) gave a negative count", body)
			}
		}
	})
}

// hasSome is whether the field was ever a list with something in it.
type hasSome bool

func (h *hasSome) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) == nil && len(list) > 0 {
		*h = true
	}
	return nil
}
