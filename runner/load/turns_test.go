package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/specsweep/specsweep/runner/openai"
)

// talk is a Chatter whose answers repeat the request; fail names those that fail.
func talk(fail func(body string) error) chat {
	return func(_ context.Context, body []byte) openai.Completion {
		if err := fail(string(body)); err != nil {
			return openai.Completion{Err: err}
		}
		return openai.Completion{Body: body, CompletionTokens: ptr(1), PromptTokens: ptr(1)}
	}
}

// continued makes prompt 3's turn 2 "3.0/1/2" of the answer "3.0/1".
func continued(_, turn int, answer *openai.Completion) ([]byte, error) {
	return fmt.Appendf(nil, "%s/%d", answer.Body, turn), nil
}

func openings(n int) [][]byte {
	var list [][]byte
	for i := range n {
		list = append(list, fmt.Appendf(nil, "%d", i))
	}
	return list
}

// Every turn follows on the answer before, and all of them count.
func TestTurnsFollowEachOther(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	c := talk(func(body string) error {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, body)
		return nil
	})
	got, err := Run(t.Context(), c, openings(3), Options{Concurrency: 2, Turns: []int{3, 1, 2}, Follow: continued})
	if err != nil {
		t.Fatal(err)
	}
	want := Pass{Completed: 6, OutputTokens: 6, PromptTokens: 6}
	if diff := cmp.Diff(want, got, ignoreTimes); diff != "" {
		t.Errorf("Run() (-want +got):\n%s", diff)
	}
	slices.Sort(sent)
	if diff := cmp.Diff([]string{"0", "0/1", "0/1/2", "1", "2", "2/1"}, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// A turn that fails, or cannot be made, fails those after it: they are not sent.
func TestFailedTurnFailsTheTurnsAfterIt(t *testing.T) {
	refused := errors.New("refused")
	for _, tt := range []struct {
		name   string
		fail   string // the body that fails
		follow func(int, int, *openai.Completion) ([]byte, error)
		seen   int
		want   Pass
	}{
		{"first", "0", continued, 1 + 2, Pass{
			Completed: 2, Failed: 4, OutputTokens: 2, PromptTokens: 2, Failures: []Failure{{"refused", "refused", 4}},
		}},
		{"second", "0/1", continued, 2 + 2, Pass{
			Completed: 3, Failed: 3, OutputTokens: 3, PromptTokens: 3, Failures: []Failure{{"refused", "refused", 3}},
		}},
		{"last", "0/1/2/3", continued, 4 + 2, Pass{
			Completed: 5, Failed: 1, OutputTokens: 5, PromptTokens: 5, Failures: []Failure{{"refused", "refused", 1}},
		}},
		{"not made", "", func(prompt, turn int, c *openai.Completion) ([]byte, error) {
			if prompt == 0 && turn == 2 {
				return nil, errors.New("no text")
			}
			return continued(prompt, turn, c)
		}, 2 + 2, Pass{
			Completed: 4, Failed: 2, OutputTokens: 4, PromptTokens: 4, Failures: []Failure{{"no text", "turn 3 was not sent: no text", 2}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := talk(func(body string) error {
				if body == tt.fail {
					return refused
				}
				return nil
			})
			var seen atomic.Int64
			got, err := Run(t.Context(), c, openings(2), Options{
				Concurrency: 2, Turns: []int{4, 2}, Follow: tt.follow, Observe: func(*openai.Completion) { seen.Add(1) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, ignoreTimes); diff != "" {
				t.Errorf("Run() (-want +got):\n%s", diff)
			}
			if int(seen.Load()) != tt.seen {
				t.Errorf("%d answers observed, want %d", seen.Load(), tt.seen)
			}
		})
	}
}

// A conversation keeps its slot: with one slot no other prompt comes in between.
func TestConversationKeepsItsSlot(t *testing.T) {
	var sent []string
	c := talk(func(body string) error { sent = append(sent, body); return nil })
	if _, err := Run(t.Context(), c, openings(3), Options{Concurrency: 1, Turns: []int{2, 1, 2}, Follow: continued}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(sent, " "); got != "0 0/1 1 2 2/1" {
		t.Errorf("sent %s", got)
	}
}

// An interrupt between two turns is an interrupt, not a failed turn.
func TestTurnsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := talk(func(string) error { return nil })
	_, err := Run(ctx, c, openings(2), Options{Turns: []int{3, 3}, Follow: func(prompt, turn int, a *openai.Completion) ([]byte, error) {
		cancel()
		return continued(prompt, turn, a)
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 of 6 requests answered") {
		t.Errorf("Run() = %v", err)
	}
}
