package runner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/dataset"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
)

func TestFollow(t *testing.T) {
	user := func(s string) json.RawMessage { return json.RawMessage(`{"role":"user","content":"` + s + `"}`) }
	first := func(s string) json.RawMessage { return json.RawMessage(`[` + string(user(s)) + `]`) }
	prompts := []dataset.Prompt{{Messages: first("a"), Next: []json.RawMessage{user("b"), user("c")}}, {Messages: first("alone")}}
	var o load.Options
	if total := follow(&o, openai.Body{Model: "m", MaxTokens: 3, TopP: 1}, prompts); total != 4 {
		t.Errorf("%d requests, want 4", total)
	}
	if diff := cmp.Diff([]int{3, 1}, o.Turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	answer := func(content string) *openai.Completion {
		return &openai.Completion{Body: []byte(`{"choices":[{"message":{"role":"assistant","content":` + content + `}}]}`)}
	}
	got, err := o.Follow(0, 1, answer(`"A \u00e9"`))
	if err != nil {
		t.Fatal(err)
	}
	messages := `{"role":"user","content":"a"},{"role":"assistant","content":"A \u00e9"},{"role":"user","content":"b"}`
	want := `{"model":"m","messages":[` + messages + `],"max_tokens":3,"temperature":0,"top_p":1}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("second body (-want +got):\n%s", diff)
	}
	got, err = o.Follow(0, 2, answer("null"))
	if err != nil {
		t.Fatal(err)
	}
	messages += `,{"role":"assistant","content":""},{"role":"user","content":"c"}`
	want = `{"model":"m","messages":[` + messages + `],"max_tokens":3,"temperature":0,"top_p":1}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("third body (-want +got):\n%s", diff)
	}
}

func TestFollowNeedsAText(t *testing.T) {
	user := json.RawMessage(`{"role":"user","content":"b"}`)
	for name, body := range map[string]string{
		"no choices": `{}`, "no JSON": `<html>`, "parts": `{"choices":[{"message":{"content":[{"type":"text","text":"x"}]}}]}`,
	} {
		var o load.Options
		follow(&o, openai.Body{Model: "m"}, []dataset.Prompt{{Messages: json.RawMessage(`[]`), Next: []json.RawMessage{user}}})
		if body, err := o.Follow(0, 1, &openai.Completion{Body: []byte(body)}); err == nil {
			t.Errorf("%s: %s, want an error", name, body)
		}
	}
}

// Prompts of one turn leave the pass as it is.
func TestFollowNothing(t *testing.T) {
	var o load.Options
	if total := follow(&o, openai.Body{}, make([]dataset.Prompt, 5)); total != 5 || o.Turns != nil || o.Follow != nil {
		t.Errorf("%d requests, options %+v", total, o)
	}
}

// Thoughts are no part of a conversation, streamed or not.
func TestFollowWithoutThoughts(t *testing.T) {
	for name, answer := range map[string]*openai.Completion{
		"whole":    {Body: []byte(`{"choices":[{"message":{"content":"A","reasoning_content":"hm"}}]}`), Text: "hmA", Content: "A"},
		"streamed": {Streamed: true, Body: []byte(`{"choices":[{}]}`), Text: "hmA", Content: "A"},
	} {
		var o load.Options
		follow(&o, openai.Body{Model: "m"}, []dataset.Prompt{{Messages: json.RawMessage(`[{}]`), Next: []json.RawMessage{json.RawMessage(`{}`)}}})
		body, err := o.Follow(0, 1, answer)
		if want := `{"role":"assistant","content":"A"}`; err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, error %v, want %s", name, body, err, want)
		}
	}
}
