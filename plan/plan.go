// Package plan reads sweep plans: checked-in YAML files that say which servers,
// datasets and axes to measure. Load reads and checks one strictly, Expand turns
// it into the ordered matrix of runs with ids that are the same on every machine.
//
// It does no network work, starts nothing and knows no engine by itself: the
// caller tells Load which engines there are.
package plan

import "time"

// Plan is a loaded, checked plan. It is read-only: the runner and the reports
// share it.
type Plan struct {
	Path   string // the file as it was named
	Dir    string // its folder, absolute; every relative path in the plan starts here
	Source []byte // the file's bytes, before ${} expansion

	Name        string
	Description string
	Labels      map[string]string // the plan's own, already merged into every server; a baseline has its own only

	Servers  []Server // in the order of the tables
	Datasets []Dataset

	Axes    Axes
	Zip     []string // axis names that go together, position by position
	Exclude []Match
	Include []Match

	TopP    float64
	TopK    *int
	Repeats int
	Order   Order

	WarmupPrompts *int // requests before a server's first pass at a concurrency; nil: see Warmup
	PrefixCache   PrefixCache
	Strict        bool // a fairness guard that fires makes the run an error

	Thresholds []Threshold // judged when the rows are there
	MinEffect  float64     // relative; a smaller difference is none worth a verdict

	Stream       bool
	SLO          SLO
	Arrivals     Arrivals // how requests arrive at a finite request_rate
	Seed         uint64   // of the arrivals
	SaveRequests bool     // one line a request
	SaveOutputs  bool     // with its text; implies SaveRequests

	Timeout    time.Duration // of one attempt of one request
	MaxRetries int
	ServerWait time.Duration // for a server that is not ready yet; bounds preflight

	AbortAfterFailures int           // so many failed requests end a run; 0: never
	MaxRunDuration     time.Duration // of one pass; 0: no bound
	MaxSweepDuration   time.Duration // after which no pass is started; 0: no bound

	cells []Run // one a cell, in order; Expand repeats them
}

// Server is a pair: a server with speculation and, unless Baseline is nil, the
// server without it that it is compared with.
type Server struct {
	Name string
	Endpoint
	Baseline *Endpoint // the same pointer for every server that inherits the plan's
}

// Endpoint is one server as the plan describes it, defaults merged in.
type Endpoint struct {
	URL        string // root URL without a trailing / or /v1; holds {port} when Launch does
	Engine     string
	Model      string // empty: the only one that /v1/models lists
	Labels     map[string]string
	Headers    map[string]string
	APIKeyEnv  string
	APIKeyFile string // absolute
	ExtraBody  map[string]any
	NumSteps   *int
	// AcceptSources restricts where acceptance is read from, sorted; empty: anywhere.
	AcceptSources []string
	TLS           *TLS    // nil: the system's certificates
	Proxy         string  // URL; empty: none, whatever the environment says
	Launch        *Launch // nil: the server runs already
}

// TLS is how an https server is trusted and told who asks.
type TLS struct {
	CAFile             string // absolute; empty: the system's
	CertFile, KeyFile  string // absolute; the client's own certificate, both or neither
	InsecureSkipVerify bool
}

// Threshold is a limit that the cells it matches must keep.
type Threshold struct {
	Line   int    // in the plan's file
	Metric string // a column of the row
	Min    *float64
	Max    *float64
	Where  Where
}

// Where is a Match that knows labels too: every key that is set must match.
type Where struct {
	Match
	Labels map[string][]string
}

// SLO is what a request must keep to count as good; nil: not asked.
type SLO struct {
	TTFTMs, TPOTMs, E2EMs *float64
}

// Any tells whether anything is asked.
func (s SLO) Any() bool { return s.TTFTMs != nil || s.TPOTMs != nil || s.E2EMs != nil }

// Arrivals is how requests arrive when they do so at a rate.
type Arrivals string

// The values of arrivals.
const (
	ArrivalsPoisson  Arrivals = "poisson"  // gaps drawn from an exponential distribution
	ArrivalsConstant Arrivals = "constant" // equal gaps
)

// Launch says how to start a server. Command, Env and the endpoint's URL may
// hold {port}, which is one free port.
type Launch struct {
	Command      []string
	RawCommand   []string // as it stands in the file, before ${} expansion: fit to be shown
	Env          map[string]string
	ReadyTimeout time.Duration
	Restart      Restart
}

// Restart says when a launched server is started anew.
type Restart string

// The values of launch.restart.
const (
	RestartNever      Restart = "never"
	RestartPerDataset Restart = "per_dataset"
	RestartPerRun     Restart = "per_run"
)

// Order is the order in which passes are made.
type Order string

// The values of order.
const (
	OrderByBlock  Order = "by_block"
	OrderByServer Order = "by_server"
)

// PrefixCache says whether a pass may find the prompts of an earlier one in the
// server's prefix cache.
type PrefixCache string

// The values of prefix_cache.
const (
	PrefixCacheCold PrefixCache = "cold"  // no pass profits from an earlier one
	PrefixCacheAsIs PrefixCache = "as_is" // nothing is done about it
)

// warmupPerSlot is what warmup_prompts: auto stands for, in requests per slot of
// concurrency: one fills the batch, the next one finds it full.
const warmupPerSlot = 2

// Warmup is how many requests warm a server up before its first pass at that
// concurrency.
func (p *Plan) Warmup(concurrency int) int {
	if p.WarmupPrompts != nil {
		return *p.WarmupPrompts
	}
	return warmupPerSlot * concurrency
}

// Dataset names the prompts of a run and how to read them.
type Dataset struct {
	Name                string
	InputData           string // absolute path of a file or folder; with Hub, org/name
	Hub                 bool   // InputData is org/name on the Hub
	DatasetName         string // the configuration on the Hub; empty: the only one there is
	Revision            string // branch, tag or commit on the Hub; empty: main
	Split               string
	MessagesColumn      string // exactly one of MessagesColumn and PromptColumn is set
	PromptColumn        string
	PromptContextColumn string
	CategoryColumn      string      // kept with each prompt; empty: none
	Turns               Turns       // what a list in PromptColumn stands for
	ShuffleSeed         *uint64     // nil: rows in order
	MaxNewTokens        *int        // replaces the axis
	NumPrompts          *NumPrompts // replaces the axis
	ExtraBody           map[string]any
}

// Turns says how much is sent of a prompt column that holds a list of turns.
type Turns string

// The values of turns.
const (
	TurnsFirst Turns = "first" // the first turn only
	TurnsAll   Turns = "all"   // one after the other, with the answers between them
)

// NumPrompts is a number of prompts, or so many per slot of concurrency.
type NumPrompts struct {
	N       int
	PerSlot bool // "10x": N per slot of concurrency, at least MinPerSlot in all
}

// MinPerSlot is the least number of prompts that "Nx" stands for.
const MinPerSlot = 64

// For is the number of prompts at that concurrency.
func (n NumPrompts) For(concurrency int) int {
	if !n.PerSlot {
		return n.N
	}
	return max(n.N*concurrency, MinPerSlot)
}

// Axes are the values that the matrix is built over.
type Axes struct {
	Concurrency  []int
	MaxNewTokens []int
	Temperature  []float64
	NumPrompts   []NumPrompts
	RequestRate  []float64 // requests per second; +Inf: a closed loop
}

// Match is one entry of exclude or include: every key that is set must match.
type Match struct {
	Line         int // in the plan's file
	Servers      []string
	Datasets     []string
	Concurrency  []int
	MaxNewTokens []int
	Temperature  []float64
	NumPrompts   []NumPrompts
	RequestRate  []float64
}

// Run is one repeat of one cell of the matrix.
type Run struct {
	Index  int // position in Expand
	CellID string
	RunID  string
	Repeat int // from 0

	Server  *Server
	Dataset *Dataset

	Concurrency  int
	MaxNewTokens int
	Temperature  float64
	NumPrompts   int     // asked; the dataset may hold fewer
	RequestRate  float64 // requests per second; 0: a closed loop, request_rate inf

	Cell []byte // canonical JSON that CellID is the hash of; holds nothing secret
}
