package dataset

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/plan"
)

// checkMessages is what holds for the messages of every prompt.
func checkMessages(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var messages []map[string]any
	if err := json.Unmarshal(raw, &messages); err != nil {
		t.Fatalf("messages %q: %v", raw, err)
	}
	if len(messages) == 0 || messages[len(messages)-1]["role"] == roleAssistant {
		t.Fatalf("messages %q leave nothing to answer", raw)
	}
	for _, m := range messages {
		if m["role"] == roleUser && m["content"] != nil {
			return
		}
	}
	t.Fatalf("messages %q have no user turn", raw)
}

func FuzzJSONL(f *testing.F) {
	for _, path := range []string{"testdata/D01/prompts.jsonl", "testdata/D05/rows.jsonl", "testdata/D11/rows.jsonl"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 0)
	}
	f.Add("\xef\xbb\xbf\r\n{\"prompt\": [\"a\"]}\r\n\n{\"prompt\":1}", 1)
	f.Add("{\"prompt\":\"\xff\"}", 0)
	f.Fuzz(func(t *testing.T, text string, from int) {
		c := newConverter(&plan.Dataset{PromptColumn: "prompt", PromptContextColumn: "context"})
		index, line := max(from, 0)-1, 0
		for r, err := range linesRows(t.Context(), withoutBOM(strings.NewReader(text)), "fuzz.jsonl", from) {
			if err != nil {
				break
			}
			if r.index != index+1 || r.line <= line {
				t.Fatalf("row %d of line %d comes after row %d of line %d", r.index, r.line, index, line)
			}
			index, line = r.index, r.line
			if want := strings.TrimSpace(strings.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\n")[line-1]); !json.Valid([]byte(want)) {
				t.Fatalf("row %d of line %d, which is %q", r.index, line, want)
			}
			messages, skip, err := c.convert(r)
			if err != nil {
				t.Fatalf("a row without the prompt column failed the dataset: %v", err)
			}
			if skip == "" {
				checkMessages(t, messages)
			}
		}
	})
}

func FuzzConvert(f *testing.F) {
	f.Add(`[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]`, `"context"`)
	f.Add(`[{"from":"human","value":"q"}, {"from":"gpt","value":null}]`, `null`)
	f.Add(`[ "first" , "second" ]`, ` ["c"]`)
	f.Add(`"\ud800 \u2028"`, `"\\"`)
	f.Fuzz(func(t *testing.T, cell, context string) {
		columns, err := parseRow([]byte(`{"cell":` + cell + `,"context":` + context + `}`))
		if err != nil {
			return
		}
		for _, d := range []plan.Dataset{
			{MessagesColumn: "cell"},
			{PromptColumn: "cell"},
			{PromptColumn: "cell", PromptContextColumn: "context"},
		} {
			messages, skip, err := newConverter(&d).convert(row{columns: columns})
			if _, there := columns["cell"]; err != nil && there {
				t.Fatalf("convert(%s): %v", cell, err)
			}
			if (skip == "") != (messages != nil) && err == nil {
				t.Fatalf("convert(%s) = %s, skipped for %q", cell, messages, skip)
			}
			if messages != nil {
				checkMessages(t, messages)
			}
		}
	})
}

func FuzzParseSplit(f *testing.F) {
	for _, s := range []string{"train", "train[10:20]", "a.b[:-10%]", "train[:10] + test[20:30]", "train[1_0:]", "x[0:5%]", "train[::]", "[", "ü[:]"} {
		f.Add(s, 100)
	}
	f.Fuzz(func(t *testing.T, text string, total int) {
		split, err := ParseSplit(text)
		if err != nil {
			return
		}
		again, err := ParseSplit(split.String())
		if err != nil || !reflect.DeepEqual(split, again) {
			t.Fatalf("%q is %v, written and read again %v (%v)", text, split, again, err)
		}
		for _, s := range split {
			if from, to := s.bounds(max(total, 0) % (1 << 40)); from < 0 || to < from {
				t.Fatalf("%v of %d rows is %d to %d", s, total, from, to)
			}
		}
	})
}

func FuzzJSONList(f *testing.F) {
	f.Add("[{\"p\":1},\n{}]")
	f.Add(" {\"p\":[]} ")
	f.Add("[1 2]")
	f.Fuzz(func(t *testing.T, text string) {
		rows, failed := 0, false
		for e, err := range streamValues(t.Context(), strings.NewReader(text)) {
			if err != nil {
				failed = true
				continue
			}
			if failed {
				t.Fatal("a row came after an error")
			}
			if !json.Valid(e.raw) || !strings.HasSuffix(text[:e.end], string(e.raw)) {
				t.Fatalf("row %q is no JSON, or does not end at byte %d", e.raw, e.end)
			}
			rows++
		}
		var list []json.RawMessage
		var object map[string]json.RawMessage
		switch {
		case json.Unmarshal([]byte(text), &list) == nil && list != nil:
			if failed || rows != len(list) {
				t.Fatalf("%d rows, failed %t; want %d", rows, failed, len(list))
			}
		case json.Unmarshal([]byte(text), &object) == nil && object != nil:
			if failed || rows != 1 {
				t.Fatalf("%d rows, failed %t; want one", rows, failed)
			}
		case !failed:
			t.Fatalf("%q is no list and no object, and no error came", text)
		}
	})
}
