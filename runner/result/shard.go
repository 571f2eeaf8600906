package result

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// ShardPrefix begins the name of a shard's folder below the folder that all shards of
// one plan share: shard-1, shard-2 and so on.
const ShardPrefix = "shard-"

// Shard says which part of a plan a run-set is, and where it was made.
type Shard struct {
	Index int    `json:"index"` // from 1
	Of    int    `json:"of"`
	Node  string `json:"node,omitempty"` // of the scheduler, or the host's name
	GPU   string `json:"gpu,omitempty"`  // as the scheduler numbers them
}

// Whole is the undivided plan, with the flags that it was run with. It names servers,
// not runs: every shard carries it, and all runs of a server are in one shard.
type Whole struct {
	RunsSHA256 string        `json:"runs_sha256"` // RunsHash of all run_ids: equal in all shards of one plan
	Runs       int           `json:"runs"`
	Servers    []WholeServer `json:"servers"` // in the order of the plan
}

// WholeServer is one server of the whole plan.
type WholeServer struct {
	Server string `json:"server"`
	Shard  int    `json:"shard"` // that makes its runs, from 1
	Runs   int    `json:"runs"`
}

// RunsHash is a hash over run_ids in the order of the plan.
func RunsHash(ids []string) string {
	hash := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(hash[:])
}

// ShardRecord is one run-set that a merged one was made of.
type ShardRecord struct {
	Dir         string     `json:"dir"`   // the last part of its path
	Shard       *Shard     `json:"shard"` // null: it was no shard
	ToolVersion string     `json:"tool_version"`
	GitCommit   string     `json:"git_commit,omitempty"`
	Host        Host       `json:"host"`
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Status      string     `json:"status"`
	Sessions    int        `json:"sessions"` // 1, and one for each time that it was resumed
	Rows        int        `json:"rows"`     // of these, the merged run-set may have taken fewer
}

// MissingRuns is runs of one server that no run-set has a row of.
type MissingRuns struct {
	Server string   `json:"server,omitempty"` // empty: not known
	Shard  int      `json:"shard,omitempty"`  // that was to make them; 0: not known
	Runs   int      `json:"runs"`
	RunIDs []string `json:"run_ids,omitempty"` // empty: all of the server's, their shard has left no run-set
}
