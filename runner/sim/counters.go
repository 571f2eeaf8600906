package sim

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Values of finish_reason, and of the label finished_reason.
const (
	reasonStop   = "stop"
	reasonLength = "length"
	reasonAbort  = "abort"
)

// Counters is what truly happened on a server since it was made, whatever a
// simulated restart or flush made it forget.
type Counters struct {
	Requests     int64 // chat requests that came
	InFlight     int64 // of them, those not decided yet
	PeakInFlight int64

	// What became of the others. A request counts before its answer is sent.
	Answered int64 // with a whole 200
	Dropped  int64 // with a 200 that breaks off (DropRate)
	Failed   int64 // with the 500 of FailRate
	Refused  int64 // with any other error
	Aborted  int64 // not at all: the client, or the server, went away

	Connections int64 // opened by clients

	Drafts              int64   // verify steps
	DraftTokens         int64   // proposed
	AcceptedTokens      int64   // without bonus tokens
	AcceptedPerPosition []int64 // AcceptedTokens by position in the draft
	GeneratedTokens     int64   // emitted, the first one of each answer included
	DecodeSteps         int64   // of single requests: a step of a batch of 8 is 8
}

// counters is all that is counted, under one lock.
type counters struct {
	mu      sync.Mutex
	created time.Time // when the counters that are told started: moves with a restart
	total   totals
	before  totals // total at the last restart: what is told is the difference
	average average

	requests, inFlight, peak, connections int64
	outcomes                              [outcomes]int64
	restarted                             bool
}

// totals is what the engine counts and /metrics tells.
type totals struct {
	drafts, draftTokens int64
	perPos              []int64 // accepted
	prompt, generated   int64   // tokens
	cached              int64   // of prompt
	steps               int64   // decode steps of single requests
	stepTime            time.Duration
	finished            map[string]int64 // requests by reason
}

func newCounters(positions int) *counters {
	zero := totals{perPos: make([]int64, positions), finished: map[string]int64{}}
	return &counters{created: time.Now(), total: zero.clone(), before: zero}
}

func (t *totals) verified(proposed, accepted int) {
	t.drafts++
	t.draftTokens += int64(proposed)
	for i := range accepted {
		t.perPos[i]++
	}
}

func (t totals) accepted() int64 {
	var n int64
	for _, p := range t.perPos {
		n += p
	}
	return n
}

func (t totals) clone() totals {
	t.perPos, t.finished = slices.Clone(t.perPos), maps.Clone(t.finished)
	return t
}

// since is the difference to earlier totals.
func (t totals) since(e totals) totals {
	d := t.clone()
	d.drafts -= e.drafts
	d.draftTokens -= e.draftTokens
	d.prompt -= e.prompt
	d.cached -= e.cached
	d.generated -= e.generated
	d.steps -= e.steps
	d.stepTime -= e.stepTime
	for i, n := range e.perPos {
		d.perPos[i] -= n
	}
	for reason, n := range e.finished {
		d.finished[reason] -= n
	}
	return d
}

// restartIfDue makes the server forget, once, after so many finished requests. The
// caller holds the lock.
func (k *counters) restartIfDue(after int) {
	finished := k.total.finished[reasonStop] + k.total.finished[reasonLength]
	if after == 0 || k.restarted || finished < int64(after) {
		return
	}
	k.restarted = true
	k.before = k.total.clone()
	k.created = time.Now()
	k.average = average{}
}

// told is what a client can learn, and since when it has been counted.
func (k *counters) told() (totals, time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.total.since(k.before), k.created
}

func (k *counters) connected() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.connections++
}

// enter counts a chat request in.
func (k *counters) enter() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests++
	k.inFlight++
	k.peak = max(k.peak, k.inFlight)
}

// leave counts it out. It must be called before the first byte of the answer: a
// client that has its answer may send the next request, or flush the cache, at
// once, and must find this one gone.
func (k *counters) leave(o outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.inFlight--
	k.outcomes[o]++
}

func (k *counters) truth() Counters {
	k.mu.Lock()
	defer k.mu.Unlock()
	return Counters{
		Requests: k.requests, InFlight: k.inFlight, PeakInFlight: k.peak, Connections: k.connections,
		Answered: k.outcomes[answered], Dropped: k.outcomes[dropped], Failed: k.outcomes[failed],
		Refused: k.outcomes[refused], Aborted: k.outcomes[aborted],
		Drafts: k.total.drafts, DraftTokens: k.total.draftTokens,
		AcceptedTokens: k.total.accepted(), AcceptedPerPosition: slices.Clone(k.total.perPos),
		GeneratedTokens: k.total.generated, DecodeSteps: k.total.steps,
	}
}
