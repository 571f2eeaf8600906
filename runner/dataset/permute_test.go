package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func permuted(t testing.TB, seed uint64, n int) []int {
	t.Helper()
	order, err := permutation(t.Context(), seed, n)
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// joinedHash is the SHA-256 of the numbers joined by commas, as the recordings
// have it.
func joinedHash(order []int) string {
	var text []byte
	for i, n := range order {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(n), 10)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func TestPermutationVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/shuffle/permutations.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Seed        uint64
		Rows        int
		First, Last []int
		SHA256      string `json:"sha256_of_comma_joined"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		got := permuted(t, v.Seed, v.Rows)
		if diff := cmp.Diff(v.First, got[:len(v.First)]); diff != "" {
			t.Errorf("seed %d, %d rows: first (-want +got):\n%s", v.Seed, v.Rows, diff)
		}
		if diff := cmp.Diff(v.Last, got[len(got)-len(v.Last):]); diff != "" {
			t.Errorf("seed %d, %d rows: last (-want +got):\n%s", v.Seed, v.Rows, diff)
		}
		if hash := joinedHash(got); hash != v.SHA256 {
			t.Errorf("seed %d, %d rows: hash %s, want %s", v.Seed, v.Rows, hash, v.SHA256)
		}
	}
}

// more.csv was recorded with numpy 2.4.6: seeds up to 2^64-1 and up to a million
// rows, the powers of two and their neighbours among them.
func TestPermutationRecordings(t *testing.T) {
	f, err := os.Open("testdata/shuffle/more.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 201 {
		t.Fatalf("%d lines, want a header and 200", len(records))
	}
	for _, r := range records[1:] {
		seed, err := strconv.ParseUint(r[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := strconv.Atoi(r[1])
		if err != nil {
			t.Fatal(err)
		}
		if hash := joinedHash(permuted(t, seed, rows)); hash != r[2] {
			t.Errorf("seed %d, %d rows: hash %s, want %s", seed, rows, hash, r[2])
		}
	}
}

func TestPermutationOfNothing(t *testing.T) {
	if got := permuted(t, 42, 0); len(got) != 0 {
		t.Errorf("permutation of 0 rows = %v", got)
	}
}

func TestPermutationStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := permutation(ctx, 1, 1<<20+1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// Draws above 2^32-1 take whole words; no list in a test is that long. The values
// are numpy's default_rng(1) words under the mask of 2^33-1.
func TestUpToBeyond32Bits(t *testing.T) {
	g, words := newPCG64(1), newPCG64(1)
	const limit = 1 << 32
	for range 100 {
		want := words.uint64() & (1<<33 - 1)
		for want > limit {
			want = words.uint64() & (1<<33 - 1)
		}
		if got := g.upTo(limit); got != want {
			t.Fatalf("upTo(2^32) = %d, want %d", got, want)
		}
	}
}

// The first words of default_rng(42).bit_generator.random_raw.
func TestPCG64Words(t *testing.T) {
	g := newPCG64(42)
	var got []string
	for range 3 {
		got = append(got, strconv.FormatUint(g.uint64(), 10))
	}
	if diff := cmp.Diff(strings.Fields("14276969152011380360 8095878257575067585 15838336090824644132"), got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}
