// Package engine is the seam between the sweep and the kinds of server it can
// measure. An Engine observes a server before, during and after a pass; it never
// sends the prompts itself. Adding an engine is one folder and one line in
// engine/all.
package engine

import (
	"context"
	"slices"

	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Engine knows one kind of server. An Engine holds no state of a server or a
// pass, so one value serves every server at the same time.
type Engine interface {
	// Name is the word that plans and rows use: lower case, no blanks.
	Name() string
	// Describe asks the server for what the record should hold: version and
	// speculative settings. What a server does not tell stays empty; an error
	// means that it could not be asked. Preflight calls it once per server.
	Describe(ctx context.Context, c *openai.Client) (Description, error)
	// Begin is called once before a pass, when nothing of it is in flight. It
	// never fails: what could not be read is remembered and becomes a Note of
	// End's Stats, because throughput is worth reporting all the same.
	Begin(ctx context.Context, c *openai.Client, t Target) Probe
}

// Target is what a Probe should know about the pass that it watches.
type Target struct {
	Model    string // as sent in the requests
	NumSteps *int   // num_steps of the plan, for engines that do not report it
	Shared   bool   // an earlier pass of this sweep has used the same server process
	Fresh    bool   // this sweep started the process, and no pass has used it yet
	Flushed  bool   // Reset has just been confirmed, and nothing was sent since
	// Sources restricts where acceptance may be read from; empty: anywhere, best
	// first.
	Sources []specdec.Source
}

// Allows tells whether acceptance may be read from a source.
func (t Target) Allows(s specdec.Source) bool {
	return len(t.Sources) == 0 || slices.Contains(t.Sources, s)
}

// Resetter is an engine that can empty a server's prefix cache. Reset returns nil
// only when the server has confirmed it; a server that is busy is waited for, for
// a short while.
type Resetter interface {
	Reset(ctx context.Context, c *openai.Client) error
}

// Salter is an engine whose requests can be kept apart from earlier ones in the
// prefix cache by a field of the body. Salt adds it; requests with different
// salts never share cached prompts, those with the same one may.
type Salter interface {
	Salt(b *openai.Body, salt string)
}

// CacheCounter is an engine that counts hits of its prefix cache.
type CacheCounter interface {
	// CacheCounts is the counters as they stand, summed over the server.
	CacheCounts(ctx context.Context, c *openai.Client) (CacheCounts, error)
}

// CacheCounts is in prompt tokens, since the server started.
type CacheCounts struct{ Queried, Hits int64 }

// Probe watches one pass.
type Probe interface {
	// Request may add fields to the request that all prompts share. It is called
	// before the clock starts.
	Request(b *openai.Body)
	// Observe sees every answer of the pass, failed ones too. It is called from
	// many goroutines at once and must not keep c.
	Observe(c *openai.Completion)
	// End is called once after the last answer and returns what the pass says
	// about acceptance. It never fails: reasons are Notes.
	End(ctx context.Context) specdec.Stats
}

// Description is what a server tells about itself.
type Description struct {
	Models  []string          `json:"models,omitempty"` // as /v1/models lists them
	Model   string            `json:"model,omitempty"`  // the one that will be asked for
	Version string            `json:"version,omitempty"`
	Spec    map[string]string `json:"speculation,omitempty"` // algorithm, num_steps … under the engine's own names
	Notes   []string          `json:"notes,omitempty"`       // what could not be checked
}
