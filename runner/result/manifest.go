package result

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The values of Manifest.Status.
const (
	StatusRunning     = "running"
	StatusFinished    = "finished"
	StatusInterrupted = "interrupted"
	StatusIncomplete  = "incomplete" // merged, and some shard's rows are not there
	StatusFailed      = "failed"     // ended early by a fault of specsweep's own, such as a full disk
)

// Manifest is what is known of a run-set beside its rows. It holds nothing
// secret: whoever fills it in redacts.
type Manifest struct {
	SchemaVersion int    `json:"schema_version"`
	Plan          string `json:"plan"`
	Description   string `json:"description,omitempty"`
	PlanPath      string `json:"plan_path,omitempty"`   // as it was named
	PlanSHA256    string `json:"plan_sha256,omitempty"` // of plan.yaml, hex

	ToolVersion string `json:"tool_version"`
	GitCommit   string `json:"git_commit,omitempty"` // that specsweep was built from
	Host        Host   `json:"host"`

	Command   []string          `json:"command,omitempty"`   // that made the run-set
	Overrides map[string]string `json:"overrides,omitempty"` // workload flags: name → value
	Labels    map[string]string `json:"labels,omitempty"`    // the plan's own

	// Resumed is the later sessions that went on with the run-set; the fields above are
	// the first one's.
	Resumed []Session `json:"resumed,omitempty"`

	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	Status    string     `json:"status"` // one of the Status constants

	Servers []ManifestServer `json:"servers,omitempty"`
	// Datasets are those that could be read, in the order of reading.
	Datasets []ManifestDataset `json:"datasets,omitempty"`
	// Cells is every cell that was asked for: cell_id → the canonical JSON that it
	// is the hash of.
	Cells map[string]json.RawMessage `json:"cells,omitempty"`
	// DatasetAxes names, by dataset, the axes that it replaces by a value of its
	// own: max_new_tokens, num_prompts.
	DatasetAxes map[string][]string `json:"dataset_axes,omitempty"`
	// Thresholds is the plan's, as report/gate reads them; MinEffect the plan's
	// min_effect. Both are there so that the run-set can be judged without its plan.
	Thresholds json.RawMessage `json:"thresholds,omitempty"`
	MinEffect  *float64        `json:"min_effect,omitempty"`
	// Runs is how many runs were asked for; 0: not known.
	Runs int `json:"runs,omitempty"`

	// Of a shard of a divided plan, and of what shards were merged into; see shard.go.
	Shard  *Shard   `json:"shard,omitempty"`   // nil: not a shard
	Whole  *Whole   `json:"whole,omitempty"`   // the plan that the shard is part of
	RunIDs []string `json:"run_ids,omitempty"` // that the shard was asked for, by run_index

	// Of a merged run-set only.
	Shards  []ShardRecord `json:"shards,omitempty"`  // what it was made of
	Missing []MissingRuns `json:"missing,omitempty"` // what has no row
	Notes   []string      `json:"notes,omitempty"`   // what the merge had to decide, and what it could not read
}

// Session is one process that went on with a run-set.
type Session struct {
	StartedAt   time.Time `json:"started_at"`
	ToolVersion string    `json:"tool_version"`
	GitCommit   string    `json:"git_commit,omitempty"`
	Host        Host      `json:"host"`
	Command     []string  `json:"command,omitempty"`
	Kept        int       `json:"kept"` // rows that were there and stayed
}

// Host is the machine that specsweep ran on, not the servers'.
type Host struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// ManifestServer is one server as it was asked for and found.
type ManifestServer struct {
	Name        string            `json:"name"`
	Baseline    bool              `json:"baseline,omitempty"` // Name is then the first server that it belongs to
	URL         string            `json:"url"`
	Proxy       string            `json:"proxy,omitempty"`            // that requests went through, without a password
	NotVerified bool              `json:"tls_not_verified,omitempty"` // any certificate was taken
	Engine      string            `json:"engine"`
	Model       string            `json:"model,omitempty"`
	Models      []string          `json:"models,omitempty"` // that it serves
	Version     string            `json:"version,omitempty"`
	Speculation map[string]string `json:"speculation,omitempty"` // settings under the engine's own names
	Labels      map[string]string `json:"labels,omitempty"`
	Command     []string          `json:"command,omitempty"` // of a launched server
	Notes       []string          `json:"notes,omitempty"`
	Error       string            `json:"error,omitempty"` // why it could not be measured
}

// ManifestDataset is one dataset as it was read.
type ManifestDataset struct {
	Name        string   `json:"name"`
	InputData   string   `json:"input_data"`             // path, or org/name on the Hub
	DatasetName string   `json:"dataset_name,omitempty"` // configuration on the Hub, where one was named
	Split       string   `json:"split"`
	Revision    string   `json:"revision,omitempty"` // the commit on the Hub
	Prompts     int      `json:"prompts"`            // loaded; a run may send fewer
	PromptSet   string   `json:"prompt_set"`         // of these
	Warnings    []string `json:"warnings,omitempty"`
}

// WriteManifest replaces manifest.json. It sets SchemaVersion.
func (s *RunSet) WriteManifest(m Manifest) error {
	m.SchemaVersion = SchemaVersion
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the manifest of %s: %w", s.dir, err)
	}
	return s.WriteFile(ManifestFile, append(text, '\n'))
}

// ReadManifest reads the manifest of the run-set in dir. The error matches
// fs.ErrNotExist when there is none.
func ReadManifest(dir string) (Manifest, error) {
	return readManifest(dir, func(text []byte, whole **Whole) error { return json.Unmarshal(text, whole) })
}

// readManifest leaves the JSON of the field whole, null included, to decodeWhole.
func readManifest(dir string, decodeWhole func([]byte, **Whole) error) (Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the manifest: %w", err)
	}
	var m struct {
		Manifest
		Whole json.RawMessage `json:"whole"` // stands before the embedded field of that name
	}
	err = json.Unmarshal(text, &m)
	if err == nil && m.Whole != nil {
		err = decodeWhole(m.Whole, &m.Manifest.Whole)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the manifest %s: %w", path, err)
	}
	if m.SchemaVersion != SchemaVersion {
		return Manifest{}, fmt.Errorf("reading the manifest %s: it has schema_version %d, this specsweep reads %d; use the version that wrote it",
			path, m.SchemaVersion, SchemaVersion)
	}
	return m.Manifest, nil
}
