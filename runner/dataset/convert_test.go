package dataset

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
)

func TestMessagesOf(t *testing.T) {
	tests := []struct{ name, in, want, skip string }{
		{"as it came", `[{"role":"user","content":"hi","n":1.50,"x":null,"a":[1e2]}]`,
			`[{"role":"user","content":"hi","n":1.50,"x":null,"a":[1e2]}]`, ""},
		{"blanks between are dropped", "[ {\"role\" : \"user\",\n \"content\": \"a  b\"} ]", `[{"role":"user","content":"a  b"}]`, ""},
		{"trailing assistants go", `[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}]`,
			`[{"role":"user","content":"q"}]`, ""},
		{"an assistant between stays", `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"}]`,
			`[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"}]`, ""},
		{"content of parts", `[{"role":"user","content":[{"type":"text","text":"q"}]}]`, `[{"role":"user","content":[{"type":"text","text":"q"}]}]`, ""},
		{"empty text is content", `[{"role":"user","content":""}]`, `[{"role":"user","content":""}]`, ""},
		{"no HTML escapes", `[{"role":"user","content":"<&>"}]`, `[{"role":"user","content":"<&>"}]`, ""},
		{"null", `null`, "", skipNoMessages},
		{"empty", `[]`, "", skipNoMessages},
		{"text", `"hi"`, "", skipNoList},
		{"object", `{"role":"user"}`, "", skipNoList},
		{"list of texts", `["hi"]`, "", skipNoObject},
		{"list of null", `[null]`, "", skipNoObject},
		{"no role", `[{"content":"hi"}]`, "", skipNoRole},
		{"role is no text", `[{"role":1,"content":"hi"}]`, "", skipNoRole},
		{"a key in another case is another key", `[{"Role":"user","content":"hi"}]`, "", skipNoRole},
		{"user without content", `[{"role":"user"}]`, "", skipNoContent},
		{"user with null", `[{"role":"user","content":null}]`, "", skipNoContent},
		{"only assistant", `[{"role":"assistant","content":"a"}]`, "", skipOnlyAssistant},
		{"no user left", `[{"role":"system","content":"s"},{"role":"assistant","content":"a"}]`, "", skipNoUser},
		{"ShareGPT", `[{"from":"system","value":"s"},{"from":"human","value":"q","weight":1},{"from":"gpt","value":"a"}]`,
			`[{"role":"system","content":"s"},{"role":"user","content":"q"}]`, ""},
		{"ShareGPT's other speakers", `[{"from":"user","value":"q"},{"from":"bing","value":"b"},{"from":"chatgpt","value":"c"},{"from":"function_call","value":"f"},{"from":"observation","value":"o"},{"from":"function","value":"p"}]`,
			`[{"role":"user","content":"q"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"},{"role":"assistant","content":"f"},{"role":"tool","content":"o"},{"role":"tool","content":"p"}]`, ""},
		{"both spellings in one list", `[{"role":"user","content":"q"},{"role":null,"from":"gpt","value":"a"},{"from":"human","value":"r"}]`,
			`[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]`, ""},
		{"ShareGPT: gpt first", `[{"from":"gpt","value":"a"},{"from":"human","value":"q"},{"from":"gpt","value":"b"}]`,
			`[{"role":"assistant","content":"a"},{"role":"user","content":"q"}]`, ""},
		{"ShareGPT: an answer without value is not sent anyway", `[{"from":"human","value":"q"},{"from":"gpt"}]`, `[{"role":"user","content":"q"}]`, ""},
		{"ShareGPT: an answer between without value", `[{"from":"human","value":"q"},{"from":"gpt","value":null},{"from":"human","value":"r"}]`, "", skipNoContent},
		{"ShareGPT: content for value", `[{"from":"human","content":"q"}]`, `[{"role":"user","content":"q"}]`, ""},
		{"ShareGPT: parts", `[{"from":"human","value":[{"type":"text","text":"q"}]}]`, `[{"role":"user","content":[{"type":"text","text":"q"}]}]`, ""},
		{"ShareGPT: tool last", `[{"from":"human","value":"q"},{"from":"function_call","value":"f"},{"from":"observation","value":"o"},{"from":"gpt","value":"a"}]`,
			`[{"role":"user","content":"q"},{"role":"assistant","content":"f"},{"role":"tool","content":"o"}]`, ""},
		{"ShareGPT without value", `[{"from":"human"}]`, "", skipNoContent},
		{"unknown speaker", `[{"from":"narrator","value":"x"}]`, "", `unknown speaker "narrator"`},
		{"unknown speaker at length", `[{"from":"a very long name of a speaker","value":"x"}]`, "", `unknown speaker "a very long name of a sp…"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skip := messagesOf(json.RawMessage(tt.in))
			if string(got) != tt.want || skip != tt.skip {
				t.Errorf("messagesOf(%s)\n got %s, %q\nwant %s, %q", tt.in, got, skip, tt.want, tt.skip)
			}
		})
	}
}

func TestPromptColumns(t *testing.T) {
	tests := []struct{ name, row, want, skip string }{
		{"not trimmed", `{"q":" hi\n"}`, `[{"role":"user","content":" hi\n"}]`, ""},
		{"escapes as they came", `{"q":"\u00e9\/\ud83d\ude00<"}`, `[{"role":"user","content":"\u00e9\/\ud83d\ude00<"}]`, ""},
		{"first of a list", `{"q":["a","b"]}`, `[{"role":"user","content":"a"}]`, ""},
		{"context", `{"q":"do","c":"this"}`, `[{"role":"user","content":"do\n\nthis"}]`, ""},
		{"context is a list", `{"q":"do","c":["this"]}`, `[{"role":"user","content":"do\n\nthis"}]`, ""},
		{"blank context", `{"q":"do","c":"  "}`, `[{"role":"user","content":"do"}]`, ""},
		{"context is no text", `{"q":"do","c":7}`, `[{"role":"user","content":"do"}]`, ""},
		{"null context", `{"q":"do","c":null}`, `[{"role":"user","content":"do"}]`, ""},
		{"blank with context", `{"q":" ","c":"this"}`, "", skipBlankPrompt},
		{"null", `{"q":null}`, "", skipBlankPrompt},
		{"empty list", `{"q":[]}`, "", skipBlankPrompt},
		{"list of nothing", `{"q":[null,"b"]}`, "", skipBlankPrompt},
		{"number", `{"q":7}`, "", skipNoText},
		{"object", `{"q":{}}`, "", skipNoText},
		{"list in a list", `{"q":[["a"]]}`, "", skipNoText},
		{"not there", `{"c":"this"}`, "", `no column "q"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			columns, err := parseRow([]byte(tt.row))
			if err != nil {
				t.Fatal(err)
			}
			c := newConverter(&plan.Dataset{PromptColumn: "q", PromptContextColumn: "c"})
			got, skip, err := c.convert(row{columns: columns})
			if string(got) != tt.want || skip != tt.skip || err != nil {
				t.Errorf("convert(%s)\n got %s, %q, %v\nwant %s, %q", tt.row, got, skip, err, tt.want, tt.skip)
			}
		})
	}
}

func TestConversationsStandInForMessages(t *testing.T) {
	const share = `{"id":1,"conversations":[{"from":"human","value":"q"}]}`
	const both = `{"messages":[{"role":"user","content":"m"}],"conversations":[{"from":"human","value":"q"}]}`
	tests := []struct{ name, row, column, want string }{
		{"default column absent", share, "messages", "q"},
		{"default column there", both, "messages", "m"},
		{"asked for by name", both, "conversations", "q"},
		{"no column named", share, "", "q"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &plan.Dataset{InputData: write(t, "a.jsonl", tt.row), MessagesColumn: tt.column}
			if diff := cmp.Diff([]string{tt.want}, texts(t, load(t, d, 1).Prompts)); diff != "" {
				t.Errorf("prompts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingColumns(t *testing.T) {
	const ok = `{"messages":[{"role":"user","content":"m"}]}` + "\n"
	t.Run("a row without messages fails the dataset", func(t *testing.T) {
		path := write(t, "a.jsonl", ok+"\n"+`{"b":1,"a":2}`)
		got := loadErr(t, t.Context(), byMessages(path), 64)
		want := path + `:3: no column "messages" (columns: a, b): set messages_column or prompt_column`
		if got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	})
	t.Run("in a list", func(t *testing.T) {
		path := write(t, "a.json", "["+ok+`,{"b":1}]`)
		wantParts(t, loadErr(t, t.Context(), byMessages(path), 64), path+`: row 1: no column "messages"`)
	})
	t.Run("conversations stand in for the default column only", func(t *testing.T) {
		d := byMessages(write(t, "a.jsonl", `{"conversations":[{"from":"human","value":"q"}]}`))
		d.MessagesColumn = "chat"
		wantParts(t, loadErr(t, t.Context(), d, 64), `no column "chat" (columns: conversations)`)
	})
	t.Run("some rows without the prompt", func(t *testing.T) {
		set := load(t, byPrompt(write(t, "a.jsonl", "{\"a\":1}\n{\"p\":\"x\"}\n{}\n"), "p"), 64)
		if got, want := set.Summary(), `3 rows, 2 skipped: no column "p" 2`; got != want || len(set.Prompts) != 1 {
			t.Errorf("Summary() = %q with %d prompts, want %q with 1", got, len(set.Prompts), want)
		}
	})
	t.Run("no row with the prompt", func(t *testing.T) {
		path := write(t, "a.jsonl", "{\"b\":1}\n{\"a\":\"x\"}\n")
		want := `no usable prompts loaded (2 rows, 2 skipped: no column "p" 2): ` + path +
			`: no row has the column "p" of prompt_column (columns: a, b)`
		if got := loadErr(t, t.Context(), byPrompt(path, "p"), 64); got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	})
	t.Run("no row with the context", func(t *testing.T) {
		d := byPrompt(write(t, "a.jsonl", "{\"p\":\"x\",\"input\":\"y\"}\n"), "p")
		d.PromptContextColumn = "inptu"
		wantParts(t, loadErr(t, t.Context(), d, 64), d.InputData, `no row has the column "inptu" of prompt_context_column (columns: input, p)`)
	})
	t.Run("some rows without the context", func(t *testing.T) {
		d := byPrompt(write(t, "a.jsonl", "{\"p\":\"x\"}\n{\"p\":\"x\",\"c\":\"y\"}\n"), "p")
		d.PromptContextColumn = "c"
		if diff := cmp.Diff([]string{"x", "x\n\ny"}, texts(t, load(t, d, 64).Prompts)); diff != "" {
			t.Errorf("prompts (-want +got):\n%s", diff)
		}
	})
}
