package load

import "time"

// Pass is what a pass over the prompts gave.
type Pass struct {
	Started time.Time
	// Wall is first send to last answer, retries and their waits included; in an open
	// loop the schedule's start to last answer.
	Wall time.Duration

	Completed, Failed int
	OutputTokens      int64  // Σ usage.completion_tokens
	PromptTokens      int64  // Σ usage.prompt_tokens
	CachedTokens      *int64 // Σ usage.prompt_tokens_details.cached_tokens; nil: no answer told

	UsageMissing       int // completed answers without completion_tokens: they add 0 to OutputTokens
	PromptUsageMissing int // completed answers without prompt_tokens
	// Those of them, and those without cached_tokens, that name it with a value that is no
	// count; see openai.InvalidCounts.
	UsageInvalid, PromptUsageInvalid, CachedInvalid int
	Truncated                                       int // completed answers that ended at max_tokens
	Retries                                         int // of completed and failed requests
	RetryWait                                       time.Duration
	InFlight                                        time.Duration // Σ of the times that requests took, waits for retries included

	// Samples is one entry a request that was sent, in the order of prompts and turns.
	Samples []Sample
	// Gaps is the times between streamed chunks, of all completed answers.
	Gaps []time.Duration
	// GapsSampled: there were more than 5,000,000, of which Gaps is a uniform sample.
	GapsSampled bool

	Model    string    // as the answers name it: the one of the first prompt whose answer does
	Failures []Failure // the commonest first
}

// Sample is one request. Its times count from when it was due: in a closed loop
// that is when it was sent. A further turn is due when the turn before was answered.
type Sample struct {
	Prompt, Turn int
	Due          time.Duration // since Pass.Started
	Late         time.Duration // sent so long after Due
	FirstToken   time.Duration // Due to first text; 0: not streamed, or none came
	Done         time.Duration // Due to last byte, retries included
	Tokens       *int          // usage.completion_tokens
	PromptTokens *int
	Retries      int
	FinishReason string
	Failed       string // kind of failure; empty: completed
	Text         string // of the answer, where the client keeps it
}

// Failure is one kind of failure.
type Failure struct {
	Kind    string // openai.Kind of the errors
	Example string // the error of the first prompt that failed like that
	Count   int
}

// Throughput is output tokens per second over the pass; nil when either is not
// positive.
func (p *Pass) Throughput() *float64 {
	if p.OutputTokens <= 0 || p.Wall <= 0 {
		return nil
	}
	v := float64(p.OutputTokens) / p.Wall.Seconds()
	return &v
}

// MeanInFlight is how many requests were in flight on average; nil when the pass
// took no time.
func (p *Pass) MeanInFlight() *float64 {
	if p.Wall <= 0 {
		return nil
	}
	v := p.InFlight.Seconds() / p.Wall.Seconds()
	return &v
}
