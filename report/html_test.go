package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/specsweep/specsweep/runner/result"
)

// checkpoints is servers with a numeric label on two datasets at three concurrencies,
// with repeats: what there are plots for.
func checkpoints(repeats int, servers ...string) Set {
	var rows []result.Row
	for i, server := range servers {
		for _, dataset := range []string{"gsm8k", "humaneval"} {
			for _, concurrency := range []int{1, 8, 32} {
				for repeat := range repeats {
					r := run(server, dataset, concurrency, repeat, 8+float64(repeat)+float64(concurrency)/8-float64(i))
					r.Labels = map[string]string{"gpu": "1xH100", "step": fmt.Sprint(1000 * (i + 1))}
					r.AcceptLength = ptr(2.3 + 0.2*float64(i))
					rows = append(rows, r)
				}
			}
		}
	}
	return NewSet(numbered(rows...), result.Manifest{Plan: "demo"})
}

func TestPlots(t *testing.T) {
	one := checkpoints(1, "a")
	one.Rows = one.Rows[:1]
	one.Rows[0].Labels = nil
	for _, tt := range []struct {
		name string
		set  Set
		want []string // title of the group: number of plots
	}{
		{"three checkpoints", checkpoints(3, "a", "b", "c"), []string{
			"speedup over concurrency: 2", "output_throughput_tok_s over concurrency: 2", "accept_length per dataset: 3",
			"accept_length over step: 3", "speedup over step: 3", "acceptance_per_position: 6",
		}},
		{"one run", one, []string{"speedup per dataset: 1", "output_throughput_tok_s per dataset: 1", "accept_length per dataset: 1", "acceptance_per_position: 1"}},
		{"errors only", sets()["errors_only"], nil},
		{"no rows", sets()["zero_rows"], nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, g := range plots(tt.set) {
				got = append(got, fmt.Sprintf("%s: %d", g.title, len(g.charts)))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("plots\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestPlotValues has a cell's mean and its interval in the plots, the baseline once
// though three servers share it, and an acceptance without an interval.
func TestPlotValues(t *testing.T) {
	groups := plots(checkpoints(3, "a", "b", "c"))
	throughput := groups[1].charts[0]
	if n := len(throughput.Series); n != 4 || throughput.Series[3].Name != "baseline" || !throughput.Series[3].Dashed {
		t.Fatalf("%d series in %s, want three servers and one baseline", n, throughput.Title)
	}
	// Σ tokens / Σ seconds: 3 × 6400 / (8.125 + 9.125 + 10.125).
	p := throughput.Series[0].Points[0]
	if want := 3 * 6400 / 27.375; p.Y < want-1e-6 || p.Y > want+1e-6 || p.Low == nil || *p.Low >= p.Y || *p.High <= p.Y {
		t.Errorf("the first point is %+v, want %g within its interval", p, want)
	}
	if p := throughput.Series[3].Points[0]; p.Y < 400-1e-9 || p.Y > 400+1e-9 {
		t.Errorf("the baseline is at %g, want 400", p.Y)
	}
	for _, g := range groups[2:4] {
		for _, s := range g.charts[0].Series {
			if s.Points[0].Low != nil {
				t.Errorf("%s has an interval over repeats of the same prompts", g.title)
			}
		}
	}
	step := groups[3].charts[0].Series[0]
	if len(step.Points) != 3 || step.Points[2].X != 3000 {
		t.Errorf("accept_length over step has %+v, want 1000, 2000 and 3000", step.Points)
	}
}

// TestLabelsWithTexts are no axis.
func TestLabelsWithTexts(t *testing.T) {
	s := checkpoints(1, "a", "b")
	s.Rows[len(s.Rows)-1].Labels = map[string]string{"step": "final"}
	for _, g := range plots(s) {
		if strings.Contains(g.title, "over step") || strings.Contains(g.title, "over gpu") {
			t.Errorf("a plot %s", g.title)
		}
	}
}

func TestPlotsGolden(t *testing.T) {
	s := checkpoints(3, "a", "b", "<i>c</i>")
	for _, f := range []Format{htmlFormat(), svgFormat()} {
		golden(t, "checkpoints"+f.Ext, render(t, f.Name, s))
	}
}

// TestSVGIsXML parses what every set gives.
func TestSVGIsXML(t *testing.T) {
	for name, set := range sets() {
		dec := xml.NewDecoder(strings.NewReader(render(t, "svg", set)))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// TestHTMLIsSafeAndAlone looks for markup from names, for what would load something, and
// for what the template refused.
func TestHTMLIsSafeAndAlone(t *testing.T) {
	all := sets()
	evil := checkpoints(1, `"><script>alert(1)</script>`, `</style></svg><img src=x onerror=alert(1)>`, `javascript:alert(1)`)
	for i := range evil.Rows {
		evil.Rows[i] = warn(evil.Rows[i], "odd", `<iframe src="http://x">`, "speedup")
	}
	evil.Manifest.Description = `<link rel=stylesheet href=http://x>`
	all["evil"] = evil
	bad := regexp.MustCompile(`(?i)<(script|img|iframe|link|object|base|form)\b|<[^>]*\s(on[a-z]+|src|srcset)\s*=[^>]*>|@import|url\(|ZgotmplZ|NaN|<nil>`)
	value := regexp.MustCompile(`="[^"]*"`)
	href := regexp.MustCompile(`href="([^"]*)"`)
	for name, set := range all {
		text := render(t, "html", set)
		// A quoted value cannot end its quotes, whatever it says; its name is what matters.
		if m := bad.FindString(value.ReplaceAllString(text, `=""`)); m != "" {
			t.Errorf("%s holds %q", name, m)
		}
		for _, m := range href.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "#note-") || !strings.Contains(text, `id="`+m[1][1:]+`"`) {
				t.Errorf("%s links to %s", name, m[1])
			}
		}
		for tag, n := range map[string]int{"<table>": 1, "<tr>": 1, "<svg ": 1, "<details": 1, "<section>": 1} {
			closing := strings.TrimSuffix(strings.Replace(strings.TrimSpace(tag), "<", "</", 1), ">") + ">"
			if a, b := strings.Count(text, tag), strings.Count(text, closing); a != b*n {
				t.Errorf("%s opens %s %d times and closes it %d times", name, tag, a, b)
			}
		}
	}
}

// TestHTMLOfAThousandRuns is still a page that a phone opens, and says what it left out.
func TestHTMLOfAThousandRuns(t *testing.T) {
	var rows []result.Row
	for i := range 1000 {
		r := run(fmt.Sprint("server-", i%50), fmt.Sprint("dataset-", i/50), 8, 0, 10)
		r.Labels = map[string]string{"step": fmt.Sprint(i % 50)}
		rows = append(rows, r)
	}
	text := render(t, "html", NewSet(numbered(rows...), result.Manifest{Plan: "many"}))
	if len(text) > 2_000_000 {
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{"the first 500 of 1000 lines", "left out: 42 more series", "left out: 6 more of dataset", "14 more plots left out: dataset-6, concurrency 8; "} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
