package openai

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestEncode(t *testing.T) {
	const messages = "[ {\"role\": \"user\", \"content\": \"<a> & \u2028 \\u00e9 é\"} ]"
	for _, tt := range []struct {
		name string
		b    Body
		want string
	}{
		{
			"the reference's fields", Body{Model: "m", MaxTokens: 256, TopP: 1},
			`{"model":"m","messages":` + messages + `,"max_tokens":256,"temperature":0,"top_p":1}`,
		},
		{
			"all fields",
			Body{Model: "org/<m>&", MaxTokens: 1, Temperature: 0.7, TopP: 0.95, TopK: ptr(0), Extra: map[string]any{
				"min_p": 0.1, "chat_template_kwargs": map[string]any{"Think": false}, "stop": []string{"<|end|>"},
			}},
			`{"model":"org/<m>&","messages":` + messages + `,"max_tokens":1,"temperature":0.7,"top_p":0.95,"top_k":0,` +
				`"chat_template_kwargs":{"Think":false},"min_p":0.1,"stop":["<|end|>"]}`,
		},
		{
			"a stream", Body{Model: "m", MaxTokens: 1, TopP: 1, TopK: ptr(5), Stream: true, Extra: map[string]any{"a": 1}},
			`{"model":"m","messages":` + messages + `,"max_tokens":1,"temperature":0,"top_p":1,"top_k":5,` +
				`"stream":true,"stream_options":{"include_usage":true},"a":1}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.b.Encode(json.RawMessage(messages))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("Encode() = %s\nwant       %s", got, tt.want)
			}
			if !json.Valid(got) {
				t.Error("Encode() is not JSON")
			}
			if asksStream(got) != tt.b.Stream {
				t.Errorf("asksStream(%s) = %v", got, asksStream(got))
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		b        Body
		messages string
		want     string
	}{
		{"messages that are no JSON", Body{}, `[{"role":`, "messages"},
		{"no messages", Body{}, ``, "messages"},
		{"not a number", Body{Temperature: math.NaN()}, `[]`, "temperature"},
		{"extra that JSON cannot hold", Body{Extra: map[string]any{"f": math.Inf(1)}}, `[]`, "field f"},
		{"extra raw that is no JSON", Body{Extra: map[string]any{"f": json.RawMessage("{")}}, `[]`, "field f"},
		{"extra stream twice", Body{Stream: true, Extra: map[string]any{"stream": false}}, `[]`, "stream"},
		{"extra stream options", Body{Stream: true, Extra: map[string]any{"stream_options": map[string]any{"continuous_usage_stats": true}}}, `[]`, "stream_options"},
		{"extra twice", Body{Extra: map[string]any{"max_tokens": 3}}, `[]`, "max_tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.b.Encode(json.RawMessage(tt.messages))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Encode() = %s, %v, want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestAsksStream(t *testing.T) {
	for body, want := range map[string]bool{
		`{"stream":true}`:                true,
		` { "stream" : true , "n" : 1 }`: true,
		`{"stream":false}`:               false,
		`{"stream":"true"}`:              false,
		`{"messages":[{"content":"\"stream\":true,","stream":true}]}`: false,
		`{"stream_options":{"stream":true}}`:                          false,
		`[]`:                                                          false,
		``:                                                            false,
	} {
		if got := asksStream([]byte(body)); got != want {
			t.Errorf("asksStream(%s) = %v, want %v", body, got, want)
		}
	}
}
