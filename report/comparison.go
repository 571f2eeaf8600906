package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/report/compare"
	"github.com/specsweep/specsweep/report/gate"
)

// Compared is what reports of a comparison are made of.
type Compared struct {
	compare.Comparison
	// Misses is what --fail-on does not let pass, and Rules how many of them there were.
	Misses   []gate.Miss
	Rules    int
	Terminal Terminal
}

// ComparedFormat is a way to print a comparison.
type ComparedFormat struct {
	Name  string
	Write func(io.Writer, Compared) error
}

// ComparedFormats is every format of a comparison.
func ComparedFormats() []ComparedFormat {
	return []ComparedFormat{
		{"terminal", func(w io.Writer, c Compared) error { return printTable(w, comparedTable(c), c.Terminal) }},
		{"markdown", writeComparedMarkdown},
		{"csv", writeComparedCSV},
		{"json", writeComparedJSON},
	}
}

// WriteCompared prints the comparison in the format of that name.
func WriteCompared(w io.Writer, format string, c Compared) error {
	i := slices.IndexFunc(ComparedFormats(), func(f ComparedFormat) bool { return f.Name == format })
	if i < 0 {
		var names []string
		for _, f := range ComparedFormats() {
			names = append(names, f.Name)
		}
		return fmt.Errorf("unknown format %q of a comparison (have %s)", format, strings.Join(names, ", "))
	}
	if err := ComparedFormats()[i].Write(w, c); err != nil {
		return fmt.Errorf("writing the comparison as %s: %w", format, err)
	}
	return nil
}

func writeComparedMarkdown(w io.Writer, c Compared) error {
	m := markdownOf(comparedTable(c), "compare "+c.Old+" "+c.New, nil)
	text, err := m.fit(maxMarkdown)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func writeComparedJSON(w io.Writer, c Compared) error {
	misses := c.Misses
	if misses == nil {
		misses = []gate.Miss{}
	}
	text, err := indented(object{{"schema_version", 1}, {"comparison", c.Comparison}, {"misses", misses}})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
