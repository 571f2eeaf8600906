package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/result"
)

func TestRetried(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	other := result.Warning{Code: "other", Text: "x"}
	failed := result.Row{RunID: "r", RunIndex: 2, Error: "refused", StartedAt: at}
	marked := result.Warning{Code: CodeRetryFailed, Text: "a retry at 2026-01-02T03:04:05Z failed: refused"}
	ok := func(server string, warnings ...result.Warning) result.Row {
		return result.Row{RunID: "r", RunIndex: 1, Server: server, Warnings: warnings}
	}
	for _, tt := range []struct {
		name           string
		was, now, want result.Row
		kept           bool
	}{
		{"ok replaces ok", ok("old", marked), ok("new"), ok("new"), false},
		{"ok replaces an error", failed, ok("new"), ok("new"), false},
		{"an error replaces an error", result.Row{RunID: "r", Error: "first"}, failed, failed, false},
		{
			"an error leaves ok", ok("old", other), failed,
			result.Row{RunID: "r", RunIndex: 2, Server: "old", Warnings: result.Warnings{other, marked}}, true,
		},
		{
			"the last failure is told", ok("old", result.Warning{Code: CodeRetryFailed, Text: "earlier"}, other), failed,
			result.Row{RunID: "r", RunIndex: 2, Server: "old", Warnings: result.Warnings{other, marked}}, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, kept := Retried(tt.was, tt.now)
			if diff := cmp.Diff(tt.want, got); diff != "" || kept != tt.kept {
				t.Errorf("kept %t, want %t; (-want +got):\n%s", kept, tt.kept, diff)
			}
		})
	}
}
