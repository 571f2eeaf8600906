package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/plan"
)

func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "turns.jsonl")
	text := `{"prompt": ["a", "b \u00e9", "c"]}
{"prompt": "alone"}
{"prompt": ["hole", "  "]}
{"prompt": ["number", 2]}
{"prompt": ["one of one"]}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	user := func(text string) json.RawMessage { return json.RawMessage(`{"role":"user","content":"` + text + `"}`) }
	one := func(row int, text string, next ...json.RawMessage) Prompt {
		return Prompt{Messages: json.RawMessage(`[` + string(user(text)) + `]`), Next: next, Row: row}
	}
	for _, tt := range []struct {
		turns plan.Turns
		want  Set
	}{
		{plan.TurnsFirst, Set{Rows: 5, Prompts: []Prompt{one(0, "a"), one(1, "alone"), one(2, "hole"), one(3, "number"), one(4, "one of one")}}},
		{plan.TurnsAll, Set{
			Rows: 5, Prompts: []Prompt{one(0, "a", user(`b \u00e9`), user("c")), one(1, "alone"), one(4, "one of one")},
			Skipped: []Skip{{"turn 2: blank prompt", 1}, {"turn 2: prompt is not a text", 1}},
		}},
	} {
		t.Run(string(tt.turns), func(t *testing.T) {
			d := &plan.Dataset{InputData: path, PromptColumn: "prompt", Turns: tt.turns}
			got := load(t, d, 9)
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("Load() (-want +got):\n%s", diff)
			}
		})
	}
}

// What follows belongs to the name of a set: other turns are other prompts.
func TestHashHoldsTheTurns(t *testing.T) {
	first := Prompt{Messages: json.RawMessage(`[{"role":"user","content":"a"}]`)}
	both := first
	both.Next = []json.RawMessage{json.RawMessage(`{"content":"b","role":"user"}`)}
	respelled := first
	respelled.Next = []json.RawMessage{json.RawMessage(`{"role": "user", "content": "\u0062"}`)}
	two := []Prompt{first, {Messages: json.RawMessage(`[{"role":"user","content":"b"}]`)}}
	if a, b, c := Hash([]Prompt{first}), Hash([]Prompt{both}), Hash(two); a == b || b == c {
		t.Errorf("hashes %s, %s and %s", a, b, c)
	}
	if a, b := Hash([]Prompt{both}), Hash([]Prompt{respelled}); a != b {
		t.Errorf("hashes %s and %s of the same turns", a, b)
	}
}
