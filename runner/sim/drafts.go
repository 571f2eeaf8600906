package sim

// jobDrafts is what became of one request's drafts.
type jobDrafts struct {
	verify, proposed, correct int64
	histogram                 []int64 // verify steps by how many tokens were correct
}

// verified takes a verify step.
func (d *jobDrafts) verified(proposed, correct int) {
	if d.histogram == nil {
		d.histogram = make([]int64, proposed+1)
	}
	d.verify++
	d.proposed += int64(proposed)
	d.correct += int64(correct)
	d.histogram[correct]++
}

// counts is what an answer of SGLang tells of its drafts, under the names of
// 0.5.19 and later. spec_accept_length is the mean with the bonus token here; a
// real server divides the tokens of the whole answer, its first one too.
func (d *jobDrafts) counts(positions int) map[string]any {
	histogram := d.histogram
	if histogram == nil {
		histogram = make([]int64, positions+1)
	}
	length, rate := 0.0, 0.0
	if d.verify > 0 {
		length = 1 + float64(d.correct)/float64(d.verify)
		rate = float64(d.correct) / float64(d.proposed)
	}
	return map[string]any{
		"spec_accept_rate": rate, "spec_accept_length": length,
		"spec_num_correct_drafts": d.correct, "spec_num_proposed_drafts": d.proposed,
		"spec_verify_ct": d.verify, "spec_correct_drafts_histogram": histogram,
	}
}
