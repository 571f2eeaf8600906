package dataset

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/specsweep/specsweep/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes a file of that name in a folder of the test's own.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// byPrompt is a dataset with a prompt column.
func byPrompt(path, column string) *plan.Dataset {
	return &plan.Dataset{Name: "d", InputData: path, Split: "train", PromptColumn: column}
}

// byMessages is a dataset with the usual messages column.
func byMessages(path string) *plan.Dataset {
	return &plan.Dataset{Name: "d", InputData: path, Split: "train", MessagesColumn: "messages"}
}

// load is Load where it must not fail.
func load(t testing.TB, d *plan.Dataset, n int) *Set {
	t.Helper()
	set, err := Load(t.Context(), d, n, Options{})
	if err != nil {
		t.Fatalf("Load(%+v, %d): %v", d, n, err)
	}
	return set
}

// loadErr is the text of Load's error.
func loadErr(t testing.TB, ctx context.Context, d *plan.Dataset, n int) string {
	t.Helper()
	set, err := Load(ctx, d, n, Options{})
	if err == nil {
		t.Fatalf("Load(%+v, %d) gave %d prompts (%s), want an error", d, n, len(set.Prompts), set.Summary())
	}
	return err.Error()
}

// texts are the contents of the last message of each prompt.
func texts(t testing.TB, prompts []Prompt) []string {
	t.Helper()
	out := []string{}
	for _, p := range prompts {
		var messages []struct{ Role, Content string }
		if err := json.Unmarshal(p.Messages, &messages); err != nil {
			t.Fatalf("row %d: %v", p.Row, err)
		}
		out = append(out, messages[len(messages)-1].Content)
	}
	return out
}

func rowsOf(prompts []Prompt) []int {
	out := []int{}
	for _, p := range prompts {
		out = append(out, p.Row)
	}
	return out
}

// wantParts checks that an error says all that it must.
func wantParts(t testing.TB, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("error %q lacks %q", got, part)
		}
	}
}
