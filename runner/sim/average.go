package sim

// foldEvery is how many decode steps of the batch SGLang takes between two updates
// of the totals behind avg_spec_accept_length (its decode_log_interval).
const foldEvery = 40

// average is SGLang's avg_spec_accept_length: Σ (accepted + 1) / Σ verify steps
// since the start or the last flush, of which the newest steps are missing until
// they are folded in. Its zero value is that of a fresh or flushed server.
type average struct {
	forward         int64 // decode steps of the batch: forward_ct_decode
	tokens, verify  int64 // folded
	pendingTokens   int64
	pendingVerifies int64
}

// verified takes one request's verify step.
func (a *average) verified(accepted int) {
	a.pendingTokens += int64(accepted) + 1
	a.pendingVerifies++
}

// step ends a decode step of the batch.
func (a *average) step() {
	a.forward++
	if a.forward%foldEvery != 0 {
		return
	}
	a.tokens += a.pendingTokens
	a.verify += a.pendingVerifies
	a.pendingTokens, a.pendingVerifies = 0, 0
}

// value is false as long as nothing has been folded.
func (a *average) value() (float64, bool) {
	if a.verify == 0 {
		return 0, false
	}
	return float64(a.tokens) / float64(a.verify), true
}
