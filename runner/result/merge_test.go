package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var mergeStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// shardSet is one run-set for a merge. Rows are of servers a, b and so on, one run each.
type shardSet struct {
	manifest Manifest
	rows     []Row
	tail     string // after the rows, as a killed process leaves it
	requests []Request
	saved    []SavedRequest
}

// serverRow is the ok row of a server's only run, begun that many minutes after mergeStart.
func serverRow(server string, minute int) Row {
	return Row{
		SchemaVersion: SchemaVersion, Plan: "p", RunIndex: int(server[0] - 'a'), CellID: "cell" + server, RunID: "cell" + server + "-r0",
		Server: server, OutputThroughputTokS: ptr(float64(minute)), StartedAt: mergeStart.Add(time.Duration(minute) * time.Minute),
	}
}

func failed(r Row) Row {
	r.Error, r.OutputThroughputTokS = "the server is gone", nil
	return r
}

// shardOfPlan is shard i of n, which is asked for the run of each of these servers; the
// whole plan has servers a, b and c, one in each of three shards.
func shardOfPlan(i, n int, servers ...string) shardSet {
	s := shardSet{manifest: Manifest{
		Plan: "p", PlanSHA256: "abc", ToolVersion: "v1", Status: StatusFinished, StartedAt: mergeStart.Add(time.Duration(i) * time.Hour),
		Shard: &Shard{Index: i, Of: n}, Cells: map[string]json.RawMessage{}, Runs: len(servers),
		Whole: &Whole{RunsSHA256: "all", Runs: 3, Servers: []WholeServer{{"a", 1, 1}, {"b", 2, 1}, {"c", 3, 1}}},
	}}
	for _, server := range servers {
		r := serverRow(server, i)
		s.rows = append(s.rows, r)
		s.manifest.RunIDs = append(s.manifest.RunIDs, r.RunID)
		s.manifest.Cells[r.CellID] = json.RawMessage(fmt.Sprintf(`{"server":%q}`, server))
	}
	return s
}

func threeShards() []shardSet {
	return []shardSet{shardOfPlan(1, 3, "a"), shardOfPlan(2, 3, "b"), shardOfPlan(3, 3, "c")}
}

// write makes the run-sets set-1, set-2 and so on.
func writeShards(t *testing.T, sets []shardSet) (dirs []string) {
	t.Helper()
	root := t.TempDir()
	for i, s := range sets {
		set, err := CreateAt(filepath.Join(root, fmt.Sprintf("set-%d", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, set.Dir())
		if err := set.WriteManifest(s.manifest); err != nil {
			t.Fatal(err)
		}
		var text []byte
		for _, r := range s.rows {
			line, err := encodeRow(r)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, line...)
		}
		if text = append(text, s.tail...); len(text) > 0 {
			if err := set.WriteFile(RowsFile, text); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.requests) > 0 {
			if err := set.AppendRequests(s.requests); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.saved) > 0 {
			if err := set.AppendSaved(s.saved); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dirs
}

// taken is which row of each run was taken: its server and the minute of its throughput.
func taken(rows []Row) (list []string) {
	for _, r := range rows {
		what := "error"
		if r.OutputThroughputTokS != nil {
			what = fmt.Sprint(*r.OutputThroughputTokS)
		}
		list = append(list, r.Server+" "+what)
	}
	return list
}

func TestMergeTakesEachRunOnce(t *testing.T) {
	with := func(change func(s []shardSet) []shardSet) []shardSet { return change(threeShards()) }
	for _, tt := range []struct {
		name    string
		sets    []shardSet
		want    []string
		missing []MissingRuns
		status  string
		notes   []string // each the beginning or middle of one note, in order
	}{
		{"three shards", threeShards(), []string{"a 1", "b 2", "c 3"}, nil, StatusFinished, nil},
		{"in another order", with(func(s []shardSet) []shardSet { slices.Reverse(s); return s }), []string{"a 1", "b 2", "c 3"}, nil, StatusFinished, nil},
		{"an ok row before a later one with an error", with(func(s []shardSet) []shardSet {
			again := shardOfPlan(1, 3, "a")
			again.rows[0] = failed(serverRow("a", 99))
			return append(s, again)
		}), []string{"a 1", "b 2", "c 3"}, nil, StatusFinished, []string{"set-1 and set-4 are both shard 1 of 3"}},
		{"an ok row after an earlier one with an error", with(func(s []shardSet) []shardSet {
			s[0].rows[0] = failed(s[0].rows[0])
			return append(s, shardOfPlan(1, 3, "a"))
		}), []string{"a 1", "b 2", "c 3"}, nil, StatusFinished, []string{"both shard 1 of 3"}},
		{"of two ok rows the later one", with(func(s []shardSet) []shardSet {
			again := shardOfPlan(1, 3, "a")
			again.rows[0] = serverRow("a", 50)
			return append([]shardSet{again}, s...)
		}), []string{"a 50", "b 2", "c 3"}, nil, StatusFinished, []string{"1 runs have an ok row in set-1 and in set-2", "both shard 1 of 3"}},
		{"divided in two ways", with(func(s []shardSet) []shardSet { return append(s, shardOfPlan(1, 1, "a", "b", "c")) }),
			[]string{"a 1", "b 2", "c 3"}, nil, StatusFinished, []string{
				"ok row in set-1 and in set-4", "ok row in set-2 and in set-4", "ok row in set-3 and in set-4", "set-4 is shard 1 of 1, others are of 3: they overlap",
			}},
		{"a shard has left nothing", with(func(s []shardSet) []shardSet { return s[:2] }), []string{"a 1", "b 2"},
			[]MissingRuns{{Server: "c", Shard: 3, Runs: 1}}, StatusIncomplete, nil},
		{"a shard was killed before its first row", with(func(s []shardSet) []shardSet {
			s[1].rows, s[1].manifest.Status = nil, StatusRunning
			return s
		}), []string{"a 1", "c 3"}, []MissingRuns{{Server: "b", Shard: 2, Runs: 1, RunIDs: []string{"cellb-r0"}}}, StatusRunning,
			[]string{"set-2 has no rows: its status is running"}},
		{"a shard was killed in the middle of a row", with(func(s []shardSet) []shardSet {
			s[2] = shardOfPlan(3, 3, "c", "d")
			s[2].rows, s[2].tail, s[2].manifest.Status = s[2].rows[:1], `{"schema_version":1,"run_id":"celld-r0","serv`, StatusInterrupted
			return s
		}), []string{"a 1", "b 2", "c 3"}, []MissingRuns{{Server: "d", Runs: 1, RunIDs: []string{"celld-r0"}}}, StatusInterrupted,
			[]string{"set-3/rows.jsonl:2: the last line is cut off"}},
		{"a shard without runs", with(func(s []shardSet) []shardSet { return append(s, shardOfPlan(4, 4)) }), []string{"a 1", "b 2", "c 3"}, nil, StatusFinished,
			[]string{"set-4 has no rows: the plan's 3 servers leave nothing for shard 4 of 4", "set-4 is shard 4 of 4, others are of 3"}},
		{"a failed shard that another has made up for", with(func(s []shardSet) []shardSet {
			s[0].rows, s[0].manifest.Status = nil, StatusFailed
			return append(s, shardOfPlan(1, 3, "a"))
		}), []string{"a 1", "b 2", "c 3"}, nil, StatusFinished, []string{"set-1 has no rows: its status is failed", "both shard 1 of 3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dirs := writeShards(t, tt.sets)
			m, err := Merge(t.Context(), dirs)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, taken(m.Rows)); diff != "" {
				t.Errorf("rows (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.missing, m.Manifest.Missing); diff != "" {
				t.Errorf("missing (-want +got)\n%s", diff)
			}
			if m.Manifest.Status != tt.status || m.Manifest.Runs != len(tt.want)+len(tt.missing) {
				t.Errorf("status %s of %d runs, want %s of %d", m.Manifest.Status, m.Manifest.Runs, tt.status, len(tt.want)+len(tt.missing))
			}
			checkNotes(t, filepath.Dir(dirs[0]), m.Manifest.Notes, tt.notes)
		})
	}
}

func checkNotes(t *testing.T, root string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("notes %q, want %d with %q", got, len(want), want)
	}
	for i, note := range got {
		note = filepath.ToSlash(strings.ReplaceAll(note, root+string(filepath.Separator), ""))
		if !strings.Contains(note, want[i]) {
			t.Errorf("note %d is %q, want %q in it", i+1, note, want[i])
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s []shardSet)
		want   []string
	}{
		{"another plan", func(s []shardSet) { s[1].manifest.Plan = "q" }, []string{"the plan is p in the first and q", "merge only what one plan has made"}},
		{"a changed plan", func(s []shardSet) { s[2].manifest.PlanSHA256 = "abd" }, []string{"plan_sha256 of plan p is abc in the first and abd", "set-3"}},
		{"other flags", func(s []shardSet) { s[1].manifest.Whole.RunsSHA256 = "other" }, []string{"the hash of the plan's runs is all (3 runs)", "other (3 runs)", "the same --only"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sets := threeShards()
			tt.change(sets)
			_, err := Merge(t.Context(), writeShards(t, sets))
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) {
				t.Fatalf("Merge = %v, want a MismatchError", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		if _, err := Merge(t.Context(), nil); err == nil {
			t.Error("Merge of nothing is no error")
		}
	})
	t.Run("no run-set", func(t *testing.T) {
		dirs := append(writeShards(t, threeShards()), t.TempDir())
		if _, err := Merge(t.Context(), dirs); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dirs[3]) {
			t.Errorf("Merge = %v, want fs.ErrNotExist that names %s", err, dirs[3])
		}
	})
}

func TestMergedManifestKeepsWhatShardsKnew(t *testing.T) {
	sets := threeShards()
	ended := mergeStart.Add(24 * time.Hour)
	for i := range sets {
		sets[i].manifest.Labels = map[string]string{"gpu": "H100", "node": fmt.Sprint(i)}
		sets[i].manifest.Datasets = []ManifestDataset{{Name: "d", Prompts: 4, PromptSet: "x"}}
		sets[i].manifest.Servers = []ManifestServer{{Name: sets[i].rows[0].Server, Baseline: true, URL: "http://127.0.0.1:1", Version: "1"}}
	}
	sets[1].manifest.EndedAt = &ended
	sets[2].manifest.Resumed = []Session{{Kept: 1}}
	m, err := Merge(t.Context(), writeShards(t, sets))
	if err != nil {
		t.Fatal(err)
	}
	got := m.Manifest
	if !got.StartedAt.Equal(sets[0].manifest.StartedAt) || got.EndedAt == nil || !got.EndedAt.Equal(ended) {
		t.Errorf("from %v to %v, want from the first to the last", got.StartedAt, got.EndedAt)
	}
	if got.Shard != nil || len(got.RunIDs) > 0 || len(got.Cells) != 3 || got.Whole == nil || len(got.Datasets) != 1 || len(got.Servers) != 1 {
		t.Errorf("shard %v, run_ids %v, %d cells, whole %v, datasets %v, servers %v", got.Shard, got.RunIDs, len(got.Cells), got.Whole, got.Datasets, got.Servers)
	}
	if diff := cmp.Diff(map[string]string{"gpu": "H100"}, got.Labels); diff != "" {
		t.Errorf("labels that all have (-want +got)\n%s", diff)
	}
	var records []string
	for _, s := range got.Shards {
		records = append(records, fmt.Sprintf("%s %d/%d %d rows %d sessions", s.Dir, s.Shard.Index, s.Shard.Of, s.Rows, s.Sessions))
	}
	want := []string{"set-1 1/3 1 rows 1 sessions", "set-2 2/3 1 rows 1 sessions", "set-3 3/3 1 rows 2 sessions"}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("shards (-want +got)\n%s", diff)
	}
}

func TestMergeMarksWhatDiffers(t *testing.T) {
	baseline := func(version, model string) []ManifestServer {
		return []ManifestServer{{Name: "x", Baseline: true, URL: "http://127.0.0.1:{port}", Version: version, Model: model}}
	}
	for _, tt := range []struct {
		name    string
		change  func(s []shardSet)
		columns []string // that every row with a baseline has in doubt; nil: none
		text    string
	}{
		{"nothing differs", func([]shardSet) {}, nil, ""},
		{"specsweep's version", func(s []shardSet) { s[1].manifest.ToolVersion = "v2" }, []string{"output_throughput_tok_s"},
			"specsweep's version differs between the shards: v1 (set-1), v2 (set-2)"},
		{"the version of one that measured nothing", func(s []shardSet) { s[1].manifest.ToolVersion, s[1].rows = "v2", nil }, nil, ""},
		{"the host", func(s []shardSet) { s[2].manifest.Host.CPUs = 8 }, []string{"output_throughput_tok_s"}, "the host differs"},
		{"the baseline's version", func(s []shardSet) {
			s[0].manifest.Servers, s[1].manifest.Servers = baseline("0.5", "m"), baseline("0.6", "m")
		}, []string{"baseline_throughput_tok_s", "speedup"}, "the baseline's version differs between the shards: 0.5 (set-1), 0.6 (set-2)"},
		{"the baseline's model", func(s []shardSet) {
			s[0].manifest.Servers, s[1].manifest.Servers = baseline("0.5", "m"), baseline("0.5", "n")
		}, []string{"baseline_throughput_tok_s", "speedup"}, "the baseline's model differs"},
		{"the prompts", func(s []shardSet) {
			s[0].manifest.Datasets = []ManifestDataset{{Name: "d", Prompts: 4, PromptSet: "x"}}
			s[1].manifest.Datasets = []ManifestDataset{{Name: "d", Prompts: 4, PromptSet: "y"}}
		}, []string{"accept_length", "acceptance_rate", "output_throughput_tok_s"}, "the prompts differs between the shards: x (set-1), y (set-2)"},
		{"other numbers of prompts", func(s []shardSet) {
			s[0].manifest.Datasets = []ManifestDataset{{Name: "d", Prompts: 4, PromptSet: "x"}}
			s[1].manifest.Datasets = []ManifestDataset{{Name: "d", Prompts: 8, PromptSet: "y"}}
		}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sets := threeShards()
			for i := range sets[:2] { // c has no baseline
				sets[i].rows[0].BaselineThroughputTokS = ptr(1.0)
			}
			// A doubt of an earlier merge, which this one decides anew.
			sets[0].rows[0].Warnings = Warnings{{Code: CodeShardsDiffer, Text: "old"}, {Code: "few_prompts", Text: "stays"}}
			tt.change(sets)
			m, err := Merge(t.Context(), writeShards(t, sets))
			if err != nil {
				t.Fatal(err)
			}
			for i := range m.Rows {
				r := &m.Rows[i]
				var got Warnings
				for _, w := range r.Warnings {
					if w.Code == CodeShardsDiffer {
						got = append(got, w)
					}
				}
				if tt.columns == nil || slices.Contains(tt.columns, "speedup") && r.BaselineThroughputTokS == nil {
					if len(got) > 0 {
						t.Errorf("row of %s is marked: %v", r.Server, got)
					}
					continue
				}
				if len(got) != 1 || cmp.Diff(tt.columns, got[0].Columns) != "" || !strings.Contains(got[0].Text, tt.text) {
					t.Errorf("row of %s has %+v, want one on %v with %q", r.Server, got, tt.columns, tt.text)
				}
			}
			if w := m.Rows[0].Warnings; len(w) == 0 || w[0].Text != "stays" {
				t.Errorf("warnings of the first row %v, want its own kept", w)
			}
			if noted := slices.ContainsFunc(m.Manifest.Notes, func(n string) bool { return strings.Contains(n, "differs between") }); noted != (tt.columns != nil) {
				t.Errorf("notes %q", m.Manifest.Notes)
			}
		})
	}
}

// What single answers tell goes with the row that was taken.
func TestMergedRequestsAreOfTheRowsTaken(t *testing.T) {
	sets := append(threeShards(), shardOfPlan(1, 3, "a"))
	sets[3].rows[0] = serverRow("a", 50) // takes the place of the first shard's
	for i := range sets {
		for _, r := range sets[i].rows {
			sets[i].requests = append(sets[i].requests, Request{RunID: r.RunID, Prompt: i})
			sets[i].saved = append(sets[i].saved, SavedRequest{RunID: r.RunID, Side: SideServer, Status: StatusOK, Prompt: i})
		}
	}
	dirs := writeShards(t, sets)
	before := folderBytes(t, dirs[0])
	m, err := Merge(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	to, err := CreateAt(filepath.Join(t.TempDir(), "merged"))
	if err != nil {
		t.Fatal(err)
	}
	problems, err := m.Write(t.Context(), to)
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0], PlanFile) {
		t.Errorf("Write: problems %q, error %v; want the plan named", problems, err)
	}
	written, _, err := ReadRequests(to.Dir())
	if err != nil {
		t.Fatal(err)
	}
	inMemory, _, err := m.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, byRun := range map[string]map[string][]Request{"written": written, "in memory": inMemory} {
		got := map[string][]int{}
		for id, list := range byRun {
			for _, q := range list {
				got[id] = append(got[id], q.Prompt)
			}
		}
		want := map[string][]int{"cella-r0": {3}, "cellb-r0": {1}, "cellc-r0": {2}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests %s, by the number of their set (-want +got)\n%s", what, diff)
		}
	}
	saved, _, err := ReadSaved(to.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, q := range saved {
		of = append(of, fmt.Sprintf("%s %d", q.RunID, q.Prompt))
	}
	if diff := cmp.Diff([]string{"cellb-r0 1", "cellc-r0 2", "cella-r0 3"}, of); diff != "" {
		t.Errorf("saved answers, by the number of their set (-want +got)\n%s", diff)
	}
	rows, _, err := Read(to.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Rows, rows); diff != "" {
		t.Errorf("rows written (-merged +read)\n%s", diff)
	}
	if diff := cmp.Diff(before, folderBytes(t, dirs[0])); diff != "" {
		t.Errorf("merging changed a shard (-before +after)\n%s", diff)
	}
}

func folderBytes(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[d.Name()] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestShardDirs(t *testing.T) {
	manifest, folder := "/"+ManifestFile, "/"
	for _, tt := range []struct {
		name       string
		entries    []string
		want, left []string
		wantErr    string
	}{
		{"by their number", []string{"shard-10" + manifest, "shard-9" + manifest, "shard-1" + manifest}, []string{"shard-1", "shard-9", "shard-10"}, nil, ""},
		{"one that has not begun", []string{"shard-1" + manifest, "shard-2" + folder}, []string{"shard-1"}, []string{"shard-2 (no manifest.json: it has not begun)"}, ""},
		{"files and folders of others", []string{"shard-1" + manifest, "shard-x" + manifest, "shard-2", "merged" + manifest, ".lock", "a.log"}, []string{"shard-1"},
			[]string{"a.log", "merged", "shard-2", "shard-x"}, ""},
		{"none has begun", []string{"shard-1" + folder, "a.log"}, nil, nil, "no shard has begun"},
		{"no shards at all", []string{"a.log"}, nil, []string{"a.log"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for _, e := range tt.entries {
				dir, file := filepath.Split(filepath.Join(root, e))
				if strings.HasSuffix(e, "/") {
					dir, file = filepath.Join(root, e), ""
				}
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if file == "" {
					continue
				}
				if err := WriteFile(filepath.Join(dir, file), nil); err != nil {
					t.Fatal(err)
				}
			}
			dirs, err := ShardDirs(root)
			left, leftErr := LeftOut(root)
			if tt.wantErr != "" {
				if err == nil || leftErr == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Errorf("ShardDirs: %v, LeftOut: %v; want %q", err, leftErr, tt.wantErr)
				}
				return
			}
			if err := errors.Join(err, leftErr); err != nil {
				t.Fatal(err)
			}
			for i := range dirs {
				dirs[i] = filepath.Base(dirs[i])
			}
			if diff := cmp.Diff(tt.want, dirs); diff != "" {
				t.Errorf("shards (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("left out (-want +got)\n%s", diff)
			}
		})
	}
}

// Shards that name one plan share it in memory; one that names another does not get it.
func TestWholeCache(t *testing.T) {
	var c wholeCache
	var got [4]*Whole
	for i, text := range []string{`{"runs":1}`, `{"runs":1}`, `{"runs":2}`, `null`} {
		if err := c.decode([]byte(text), &got[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got[0] == nil || got[0] != got[1] || got[2] == nil || got[2].Runs != 2 || got[3] != nil {
		t.Errorf("decoded %v, want one for the first two, another for the third, none for null", got)
	}
	if err := c.decode([]byte(`{"runs":"x"}`), &got[0]); err == nil || !strings.Contains(err.Error(), "whole") {
		t.Errorf("decode of a wrong type = %v, want an error that names the field", err)
	}
}

func TestParseRowNamesTheVersionFirst(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		schema           bool
	}{
		{"another version with a field of another type", `{"schema_version":2,"run_id":7}`, "the row has 2, this specsweep reads 1", true},
		{"this version with a field of another type", `{"schema_version":1,"run_id":7}`, "run_id", false},
		{"no version", `{"run_id":"a-r0"}`, "no schema_version", false},
		{"version 0", `{"schema_version":0,"run_id":"a-r0"}`, "the row has 0", true},
		{"no run_id", `{"schema_version":1}`, "no run_id", false},
		{"half a line", `{"schema_version":1,"run_`, "unexpected end", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseRow([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, errSchema) != tt.schema {
				t.Errorf("parseRow = %v, want %q in it (another version: %v)", err, tt.want, tt.schema)
			}
		})
	}
}
