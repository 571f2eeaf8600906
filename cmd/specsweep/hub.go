package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset/hub"
)

// hubOptions are those for the datasets that lie on the Hub, or nil when none does:
// then the Hub's variables and the home folder are nobody's concern. Its errors are
// usage errors, to be met before anything is written.
func hubOptions(e *env, s settings, datasets ...*plan.Dataset) (*hub.Options, error) {
	if !slices.ContainsFunc(datasets, func(d *plan.Dataset) bool { return d.Hub }) {
		return nil, nil //nolint:nilnil // no options is what was asked for
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, usage(fmt.Errorf("finding the Hub's cache: %w: set HOME", err))
	}
	o, err := hub.FromEnv(s.hubLookup(e.lookup), home)
	if err != nil {
		return nil, usage(err)
	}
	return &o, nil
}

// newHub is the client with these options, or nil without any. Its progress goes to
// w.
func newHub(o *hub.Options, s settings, log *slog.Logger, w io.Writer) *hub.Client {
	if o == nil {
		return nil
	}
	o.Log = log
	if s.Progress != "none" {
		o.Progress = (&downloads{out: w}).progress
	}
	return hub.New(*o)
}

// closeHub ends a client of newHub.
func closeHub(c *hub.Client) {
	if c != nil {
		c.Close()
	}
}

// datasetsOf are the datasets that the runs send, each once or more.
func datasetsOf(runs []plan.Run) []*plan.Dataset {
	var out []*plan.Dataset
	for i := range runs {
		out = append(out, runs[i].Dataset)
	}
	return out
}

// hubLookup puts the settings before the variables that they stand for, so that
// both are held to the same rules.
func (s settings) hubLookup(lookup func(string) (string, bool)) func(string) (string, bool) {
	own := map[string]string{"HF_ENDPOINT": s.HFEndpoint, "HF_TOKEN": s.HFToken, "HF_HUB_CACHE": s.HFCache}
	return func(name string) (string, bool) {
		if value := own[name]; value != "" {
			return value, true
		}
		return lookup(name)
	}
}

// downloads says on lines of their own how far a download is. A file that is there
// at once needs no line.
type downloads struct {
	out io.Writer

	mu   sync.Mutex
	said map[string]int64 // by file: how many steps have been said
}

// downloadStep is how many bytes go by between two lines.
const downloadStep = 64 << 20

func (d *downloads) progress(file string, done, total int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.said == nil {
		d.said = map[string]int64{}
	}
	steps := done / downloadStep
	if steps <= d.said[file] {
		return
	}
	d.said[file] = steps
	if total > 0 {
		fmt.Fprintf(d.out, "downloading %s: %d of %d MB\n", clean(file), done/1e6, total/1e6)
		return
	}
	fmt.Fprintf(d.out, "downloading %s: %d MB\n", clean(file), done/1e6)
}
