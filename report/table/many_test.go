package table

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// ladder is servers of which each is a little faster than the one before it; at some a
// run has failed.
func ladder(servers int) []result.Row {
	var rows []result.Row
	for i := range servers {
		for _, dataset := range []string{"gsm8k", "mbpp"} {
			for repeat := range 4 {
				r := okRow(fmt.Sprintf("ckpt-%03d", i), dataset, 8, repeat, 1000, 10)
				r.Speedup = ptr((1 + 0.01*float64(i)) * (1 + 0.0001*float64(repeat)))
				if i == 3 && repeat == 0 {
					r.Error = "server is down"
				}
				rows = append(rows, r)
			}
		}
	}
	return numbered(rows...)
}

func TestSummaryOfManyServers(t *testing.T) {
	tab := Build(ladder(100), Options{})
	find := func(name string) Grid {
		for _, g := range tab.Details {
			if g.Name == name {
				return g
			}
		}
		t.Fatalf("no grid %q", name)
		return Grid{}
	}
	cut, all, best := find(GridSummary), find(GridSummaryAll), find(GridBest)
	if len(cut.Lines) != 21 || len(all.Lines) != 100 || all.Brief || !strings.Contains(cut.Title, "79 of 100 lines left out") {
		t.Errorf("%d of %d lines, brief %v, %q; want the best 20 and the one that failed", len(cut.Lines), len(all.Lines), all.Brief, cut.Title)
	}
	if first, last := cut.Lines[0][0].Text, cut.Lines[20][0].Text; first != "ckpt-003" || last != "ckpt-099" {
		t.Errorf("from %s to %s, want the failed one and the best ones in their order", first, last)
	}
	for _, l := range best.Lines {
		if len(best.Lines) != 2 || l[2].Text != "ckpt-099" || !l[2].Best {
			t.Errorf("best %v of %d lines, want ckpt-099, marked, on two datasets", l, len(best.Lines))
		}
	}
	for _, g := range Build(ladder(6), Options{}).Details {
		if g.Name == GridBest || g.Name == GridSummaryAll {
			t.Errorf("%q of six servers, which stand side by side", g.Title)
		}
	}
}

// The best is not marked where chance may have chosen it.
func TestBestIsMarkedOnlyWhenShown(t *testing.T) {
	rows := ladder(8)
	for i := range rows {
		rows[i].Speedup = ptr(1 + 0.3*float64(i%3) + 0.001*float64(i/3))
	}
	for _, g := range Build(rows, Options{}).Details {
		if g.Name == GridBest && g.HasBest() {
			t.Errorf("marked: %v", g.Lines)
		}
	}
}

// A rate over repeats of different lengths is the good requests over the seconds.
func TestGoodputOverRepeats(t *testing.T) {
	a, b := okRow("s", "d", 8, 0, 1000, 10), okRow("s", "d", 8, 1, 1000, 40)
	for i, r := range []*result.Row{&a, &b} {
		r.NumPrompts, r.Goodput, r.GoodputReqS = ptr(100), ptr(1.0), ptr(100 / *r.WallClockS)
		r.BaselineCompleted, r.BaselineFailed, r.BaselineGoodput = ptr(90), ptr(10), ptr(0.5)
		r.BaselineOutputTokens, r.BaselineThroughputTokS = ptr(int64(1000)), ptr([]float64{100, 25}[i])
		r.BaselineGoodputReqS = ptr(50 * *r.BaselineThroughputTokS / 1000)
	}
	rows := []*result.Row{&a, &b}
	for metric, want := range map[string]float64{"goodput_req_s": 200. / 50, "baseline_goodput_req_s": 100. / 50} {
		if got := CellValue(rows, metric); got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v by hand", metric, got, want)
		}
	}
	if got := strings.Join(Build(numbered(a, b), Options{}).Remarks, "\n"); !strings.Contains(got, "goodput_req_s is Σ good requests / Σ seconds") {
		t.Errorf("%s\ndoes not say how latencies are combined", got)
	}
	a.NumPrompts = nil
	if got := CellValue(rows, "goodput_req_s"); got == nil || math.Abs(*got-6.25) > 1e-9 {
		t.Errorf("without counts %v, want the mean", got)
	}
}

func TestGains(t *testing.T) {
	for _, tt := range []struct {
		name       string
		all, shown []float64
		want       string
	}{
		{"all shown", []float64{1.2, 2.17}, []float64{1.2, 2.17}, "1.20x to 2.17x over no speculation"},
		{"some may be chance", []float64{1.22, 1.5, 2.17}, []float64{1.5, 2.17}, "up to 2.17x over no speculation; 1 of 3 not shown to differ"},
		{"one is slower", []float64{0.8, 1.01, 2}, []float64{0.8, 2}, "0.80x to 2.00x over no speculation; 1 of 3 not shown to differ"},
		{"only one, and slower", []float64{0.8, 1.01}, []float64{0.8}, "0.80x over no speculation; 1 of 2 not shown to differ"},
		{"none", []float64{0.9, 1.1}, nil, "nowhere different from no speculation: 0.90x to 1.10x"},
	} {
		if got := gains(tt.all, tt.shown); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	rows := append(repeated("a", "d", 8, 1.99, 2, 2.01), repeated("b", "d", 8, 0.5, 1.2, 3)...)
	if got := Build(numbered(rows...), Options{}).Title; !strings.Contains(got, "up to 2.00x over no speculation; 1 of 2 not shown to differ") {
		t.Errorf("%s\nputs a value that may be chance in its range", got)
	}
}

func TestCaptionCountsTheCellsThatWereAskedFor(t *testing.T) {
	for cells, want := range map[int]string{0: "1 of 1 cell ok", 8: "1 of 8 cells ok"} {
		if got := Build(repeated("a", "d", 8, 2), Options{Cells: cells}).Caption[0]; got != want {
			t.Errorf("%d asked for: %q, want %q", cells, got, want)
		}
	}
}
