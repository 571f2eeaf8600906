package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/specsweep/specsweep/runner"
	"github.com/specsweep/specsweep/runner/result"
)

// progress shows how far a sweep is: a bar with rate and time left on a
// terminal, else a line a run. The zero mode shows nothing.
type progress struct {
	out   io.Writer // stderr, or the bar's container, which writes above the bar
	lines bool
	runs  int

	container *mpb.Progress
	bar       *mpb.Bar
	asked     int64 // requests of all passes that are over
	finished  int
}

// newProgress shows a sweep of that cost, of which so many runs are there already.
func newProgress(stderr io.Writer, s settings, tty bool, cost runner.Cost, kept int) *progress {
	p := &progress{out: stderr, runs: kept + cost.Runs, finished: kept}
	switch {
	case s.Progress == "none":
	case s.Progress == "lines" || !tty:
		p.lines = true
	default:
		p.container = mpb.New(mpb.WithOutput(stderr), mpb.WithWidth(32))
		p.out = p.container
		// The label is read by the bar's goroutine, so it travels as the
		// decorator's own message instead of as shared memory.
		p.bar = p.container.AddBar(int64(cost.Requests),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d requests ")),
			mpb.AppendDecorators(
				decor.AverageSpeed(0, " %.1f/s"),
				decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace), ""),
				decor.Name(" left"),
			))
	}
	return p
}

// passStarted names the pass above the bar.
func (p *progress) passStarted(i runner.PassInfo) {
	if p.bar == nil {
		return
	}
	role := ""
	if i.Baseline {
		role = " (baseline)"
	}
	fmt.Fprintf(p.out, "pass %d/%d: %s%s, %s, concurrency %d, %d prompts\n", i.Index, i.Total,
		clean(i.Server), role, clean(i.Run.Dataset.Name), i.Run.Concurrency, i.Prompts)
}

func (p *progress) request() {
	if p.bar != nil {
		p.bar.Increment()
	}
}

// passDone moves the bar to where the pass was to end, however many prompts it
// really had.
func (p *progress) passDone(i runner.PassInfo) {
	p.asked += int64(i.Run.NumPrompts)
	if p.bar != nil {
		p.bar.SetCurrent(p.asked)
	}
}

// row says what a run gave.
func (p *progress) row(r *result.Row) {
	p.finished++
	if !p.lines && p.bar == nil {
		return
	}
	fmt.Fprintf(p.out, "[%d/%d] %s\n", p.finished, p.runs, clean(rowLine(r)))
}

// rowLine is a run in one line: what it was, then its numbers or its error.
func rowLine(r *result.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, concurrency %d", r.Server, r.Dataset, r.Concurrency)
	if r.RequestRate != nil {
		fmt.Fprintf(&b, ", request_rate %g", *r.RequestRate)
	}
	if r.Repeat > 0 {
		fmt.Fprintf(&b, ", repeat %d", r.Repeat)
	}
	if !r.OK() {
		return b.String() + ": ERROR " + strings.Join(strings.Fields(r.Error), " ")
	}
	fmt.Fprintf(&b, ": %s tok/s, speedup %s, accept_length %s", number(r.OutputThroughputTokS, 1), number(r.Speedup, 2), number(r.AcceptLength, 2))
	if r.Failed != nil && *r.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", *r.Failed)
	}
	return b.String()
}

func number(v *float64, digits int) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}

// close ends the bar and waits for its goroutine.
func (p *progress) close() {
	if p.container == nil {
		return
	}
	p.bar.Abort(false) // no effect on a bar that is full
	p.container.Wait()
}
