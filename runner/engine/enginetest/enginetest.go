// Package enginetest is the conformance suite that every engine's test calls: what
// the sweep relies on in any engine, checked against simulated and broken servers
// on real sockets. What is peculiar to one engine is for that engine's own tests.
package enginetest

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/sim"
	"github.com/specsweep/specsweep/runner/specdec"
)

// tolerance is how far a measured ratio may be from the simulated one.
const tolerance = 0.03

// Run checks one engine against servers of its kind: c as it is, without
// speculation, restarted in the middle of a pass, and servers that are no such
// server at all. c needs Engine and Accept.
func Run(t *testing.T, e engine.Engine, c sim.Config) {
	t.Helper()
	t.Run("name", func(t *testing.T) {
		t.Parallel()
		if n := e.Name(); n == "" || strings.ToLower(n) != n || strings.ContainsAny(n, " \t\n") {
			t.Errorf("Name %q, want lower case without blanks", n)
		}
	})
	t.Run("preflight", func(t *testing.T) { t.Parallel(); preflight(t, e, c) })
	t.Run("speculating", func(t *testing.T) { t.Parallel(); speculating(t, e, c) })
	t.Run("not speculating", func(t *testing.T) { t.Parallel(); notSpeculating(t, e, c) })
	t.Run("restarted during the pass", func(t *testing.T) { t.Parallel(); restarted(t, e, c) })
	t.Run("broken", func(t *testing.T) { t.Parallel(); broken(t, e) })
	t.Run("cancelled", func(t *testing.T) { t.Parallel(); cancelled(t, e) })
	t.Run("observed from many goroutines", func(t *testing.T) { t.Parallel(); observed(t, e, c) })
}

func preflight(t *testing.T, e engine.Engine, c sim.Config) {
	client := connect(t, listen(t, c))
	d, err := engine.Preflight(t.Context(), e, client, engine.PreflightOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Model == "" || d.Version == "" || len(d.Notes) > 0 {
		t.Errorf("description = %+v, want model and version and no notes", d)
	}
}

func speculating(t *testing.T, e engine.Engine, c sim.Config) {
	s := pass(t, e, listen(t, c))
	explained(t, s)
	near(t, "accept_length", s.AcceptLength, c.AcceptLength())
	near(t, "acceptance_rate", s.AcceptanceRate, (c.AcceptLength()-1)/float64(len(c.Accept)))
	if s.Source == "" {
		t.Error("numbers without a source")
	}
}

func notSpeculating(t *testing.T, e engine.Engine, c sim.Config) {
	c.NoSpec = true
	valueless(t, pass(t, e, listen(t, c)))
}

// restarted: what was counted before the restart is lost, so there is no number,
// or one that holds for the rest.
func restarted(t *testing.T, e engine.Engine, c sim.Config) {
	c.RestartAfter = prompts / 2
	s := pass(t, e, listen(t, c))
	explained(t, s)
	if s.AcceptLength != nil {
		near(t, "accept_length", s.AcceptLength, c.AcceptLength())
	}
}

// broken passes go over servers that answer everything with the same nonsense.
func broken(t *testing.T, e engine.Engine) {
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"a page":           text(http.StatusOK, "<!DOCTYPE html><html><body>Welcome</body></html>"),
		"an empty body":    text(http.StatusOK, ""),
		"an empty object":  text(http.StatusOK, "{}"),
		"a list":           text(http.StatusOK, "[null, 1]"),
		"an error":         text(http.StatusInternalServerError, "boom"),
		"no such route":    text(http.StatusNotFound, `{"detail":"Not Found"}`),
		"key refused":      text(http.StatusUnauthorized, `{"error":"Unauthorized"}`),
		"connection ended": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"body broken off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "{")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(h)
			t.Cleanup(s.Close)
			worthless(t, e, s.URL)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(http.NotFoundHandler())
		s.Close()
		worthless(t, e, s.URL)
	})
}

// worthless makes a pass over a server that cannot tell anything.
func worthless(t *testing.T, e engine.Engine, url string) {
	client := connect(t, url)
	if d, err := e.Describe(t.Context(), client); err == nil && d.Version != "" {
		t.Errorf("Describe = %+v", d)
	}
	p := e.Begin(t.Context(), client, engine.Target{Model: "m"})
	p.Request(&openai.Body{Model: "m"})
	p.Observe(&openai.Completion{Err: io.ErrUnexpectedEOF})
	p.Observe(&openai.Completion{Model: "m", Body: []byte("{}")})
	valueless(t, p.End(t.Context()))
}

// cancelled: the server never answers, and the context ends with the first request.
func cancelled(t *testing.T, e engine.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	client := connect(t, s.URL)
	start := time.Now()
	valueless(t, e.Begin(ctx, client, engine.Target{Model: "m"}).End(ctx))
	if _, err := e.Describe(ctx, client); err == nil {
		t.Error("Describe has no error after its context ended")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s to notice that the context had ended", took)
	}
}

// observed hands out answers that are changed as soon as Observe has returned: the
// race detector sees an engine that keeps one, or that does not lock.
func observed(t *testing.T, e engine.Engine, c sim.Config) {
	p := e.Begin(t.Context(), connect(t, listen(t, c)), engine.Target{Model: "m"})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			var c openai.Completion
			for i := range 100 {
				c = openai.Completion{Index: i, Model: "m", Body: []byte("{}")}
				if i%3 == 0 {
					c.Err = io.ErrUnexpectedEOF
				}
				p.Observe(&c)
			}
		})
	}
	wg.Wait()
	explained(t, p.End(t.Context()))
}

// explained checks that every nil value has a Note that names its column.
func explained(t *testing.T, s specdec.Stats) {
	t.Helper()
	noted := map[string]bool{}
	for _, n := range s.Notes {
		if n.Code == "" || n.Text == "" || len(n.Columns) == 0 || strings.Contains(n.Text, "\n") {
			t.Errorf("a note needs a code, columns and one line of text: %+v", n)
		}
		for _, c := range n.Columns {
			noted[c] = true
		}
	}
	for column, missing := range map[string]bool{
		specdec.ColumnAcceptLength:      s.AcceptLength == nil,
		specdec.ColumnAcceptanceRate:    s.AcceptanceRate == nil,
		specdec.ColumnNumSteps:          s.NumSteps == nil,
		specdec.ColumnNumDrafts:         s.NumDrafts == nil,
		specdec.ColumnNumDraftTokens:    s.NumDraftTokens == nil,
		specdec.ColumnNumAcceptedTokens: s.NumAcceptedTokens == nil,
		specdec.ColumnPerPosition:       s.PerPosition == nil,
	} {
		if missing && !noted[column] {
			t.Errorf("%s is nil without a reason; notes: %+v", column, s.Notes)
		}
	}
}

// valueless checks that there is no acceptance, and a reason for it.
func valueless(t *testing.T, s specdec.Stats) {
	t.Helper()
	if s.AcceptLength != nil || s.AcceptanceRate != nil || s.PerPosition != nil {
		t.Errorf("acceptance from nowhere: %+v", s)
	}
	explained(t, s)
}

func near(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got/want-1) > tolerance {
		var v any = "nil"
		if got != nil {
			v = *got
		}
		t.Errorf("%s = %v, want %v within %v", name, v, want, tolerance)
	}
}
