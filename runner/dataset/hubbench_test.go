package dataset

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset/hub"
	"github.com/specsweep/specsweep/runner/dataset/hub/hubtest"
)

// gigabyte is a parquet file of about 1 GB: row groups of 16 MB, pages of 1 MB, a
// prompt of 3 kB and as much beside it in each row.
func gigabyte(b *testing.B) *io.SectionReader {
	b.Helper()
	type row struct {
		Prompt string `parquet:"prompt"`
		Answer string `parquet:"answer"`
	}
	const (
		field        = 3000 // bytes
		rows         = 170_000
		rowsPerGroup = 16_000_000 / (2 * field)
	)
	f, err := os.Create(filepath.Join(b.TempDir(), "gigabyte.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	w := parquet.NewGenericWriter[row](f, parquet.PageBufferSize(1<<20), parquet.MaxRowsPerRowGroup(rowsPerGroup))
	draws := rand.NewPCG(1, 2)
	text := func() string {
		buf := make([]byte, field)
		for i := range buf {
			buf[i] = 'a' + byte(draws.Uint64()%26)
		}
		return string(buf)
	}
	for range rows {
		if _, err := w.Write([]row{{text(), text()}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		b.Fatal(err)
	}
	return io.NewSectionReader(f, 0, size)
}

// BenchmarkHub64Of1GB reads the first 64 prompts of a 1 GB parquet file on the
// Hub: at most 2 % of its bytes may be fetched.
func BenchmarkHub64Of1GB(b *testing.B) {
	content := gigabyte(b)
	h := hubtest.New()
	defer h.Close()
	h.Add("org/large", hubtest.Dataset{
		Parquet: map[string]map[string][]hubtest.Content{"default": {"train": {content}}},
	})
	d := &plan.Dataset{Name: "large", InputData: "org/large", Hub: true, Split: "train", PromptColumn: "prompt"}
	var share float64
	for b.Loop() {
		h.Reset()
		client := hub.New(hub.Options{Endpoint: h.URL(), CacheDir: b.TempDir()})
		set, err := Load(b.Context(), d, 64, Options{Hub: client})
		if err != nil {
			b.Fatal(err)
		}
		if len(set.Prompts) != 64 {
			b.Fatalf("%d prompts, want 64", len(set.Prompts))
		}
		share = max(share, float64(h.Bytes())/float64(content.Size()))
	}
	b.ReportMetric(100*share, "%-fetched")
	if share > 0.02 {
		b.Error(fmt.Errorf("%.2f %% of the file's bytes fetched, want at most 2 %%", 100*share))
	}
}
