package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/specdec"
)

// Codes of the warnings that the runner itself gives; the engines' come from
// specdec.
const (
	CodeUsageMissing         = "usage_missing"
	CodeFailedRequests       = "failed_requests"
	CodeRetries              = "retries"
	CodeFewerPrompts         = "fewer_prompts"
	CodeDataset              = "dataset"
	CodeEffectiveConcurrency = "effective_concurrency"
	CodeNoBaseline           = "no_baseline"
	CodeBaselineFailed       = "baseline_failed"
	CodeBaselineEngine       = "baseline_engine"
	CodeBaselineSpeculates   = "baseline_speculates"
	CodeNotInterleaved       = "not_interleaved"
	CodeNotReported          = "not_reported"
	CodeNoThroughput         = "no_throughput"
	CodeBeyondMaxTokens      = "beyond_max_new_tokens" //nolint:gosec // no credential
	CodeBaselineUnknown      = "baseline_speculation_unknown"
	CodeNotSpeculating       = "server_does_not_speculate"
	CodeCoverage             = "accept_coverage"
	CodeWarmupFailed         = "warmup_failed"
)

// goodCoverage is the share of decode steps below which an average is marked.
const goodCoverage = 0.9

// row makes a run's row of its server pass and its baseline's. base is nil when
// the plan has no baseline or missing says why it was not measured.
func (s *sweep) row(run *plan.Run, r int, p, base *pass, missing string) result.Row {
	srv := s.servers[s.schedule.serverOf[r]]
	row := result.Row{
		SchemaVersion: result.SchemaVersion,
		Plan:          s.Plan.Name,
		RunIndex:      run.Index,
		CellID:        run.CellID,
		RunID:         run.RunID,
		Repeat:        run.Repeat,
		Server:        run.Server.Name,
		Engine:        run.Server.Engine,
		Model:         p.model,
		Dataset:       run.Dataset.Name,
		Concurrency:   run.Concurrency,
		MaxNewTokens:  run.MaxNewTokens,
		Temperature:   run.Temperature,
		Labels:        run.Server.Labels,
		PromptsAsked:  run.NumPrompts,
		StartedAt:     p.started.UTC(),
		ToolVersion:   s.ToolVersion,
		ServerVersion: versionOf(p, srv),
		PromptSet:     p.prompts.hash,
		Warnings:      result.Warnings{},
	}
	if openLoop(run) {
		row.RequestRate = ptr(run.RequestRate)
	}
	if row.Model == "" {
		row.Model = run.Server.Model
	}
	markTrust(&row, &run.Server.Endpoint, run.Server.Baseline)
	fillPass(&row, p)
	if b := s.schedule.baselineOf[r]; b >= 0 {
		row.BaselineEngine = s.servers[b].plan.Engine
		row.BaselineVersion = versionOf(base, s.servers[b])
	}
	if p.err != nil {
		row.Error = p.err.Error()
		return row
	}
	fillAcceptance(&row, p)
	s.fillLatency(&row, p)
	fillClient(&row, p)
	s.fillBaseline(&row, p, base, missing)
	if _, other := s.earlier.baseline(run); other && base != nil && base.restored == nil && base.err == nil {
		warn(&row, CodeBaselineAgain, "the sweep was resumed and the baseline of this block measured again: its other rows may have another one",
			"baseline_throughput_tok_s", "speedup")
	}
	s.guard(&row, run, r, p, base)
	if s.Plan.Strict {
		beStrict(&row)
	}
	return row
}

// versionOf is what the server was when the pass was made; what it is known to be, when
// no pass got that far.
func versionOf(p *pass, srv *server) string {
	if p != nil && p.version != "" {
		return p.version
	}
	return srv.desc.Version
}

// fillPass puts in what was counted, also of a pass whose requests all failed.
func fillPass(row *result.Row, p *pass) {
	l := &p.load
	if l.Completed+l.Failed == 0 {
		return // nothing was sent
	}
	row.NumPrompts = ptr(l.Completed + l.Failed)
	row.Completed, row.Failed = ptr(l.Completed), ptr(l.Failed)
	row.OutputTokens, row.PromptTokens = ptr(l.OutputTokens), ptr(l.PromptTokens)
	row.WallClockS = ptr(l.Wall.Seconds())
	row.UsageMissing, row.Retries, row.Truncated = ptr(l.UsageMissing), ptr(l.Retries), ptr(l.Truncated)
	row.RetryWaitS = ptr(l.RetryWait.Seconds())
	row.MeanInFlight = l.MeanInFlight()
	row.OutputThroughputTokS = l.Throughput()
	row.CachedTokens = l.CachedTokens
	if known := l.Completed - l.UsageMissing; known > 0 {
		row.MeanOutputTokens = ptr(float64(l.OutputTokens) / float64(known))
	}
	warnPrompts(row, p.prompts)
	warnPass(row, l)
	warnBeyond(row, p, "", "output_throughput_tok_s", "speedup", "output_tokens")
	if p.unwarmed != "" {
		warn(row, CodeWarmupFailed, p.unwarmed+": the pass may have been measured cold", "output_throughput_tok_s", "speedup")
	}
}

// warnBeyond doubts token counts that the request did not allow.
func warnBeyond(row *result.Row, p *pass, who string, columns ...string) {
	if p.beyond > 0 {
		warn(row, CodeBeyondMaxTokens, fmt.Sprintf("%s%d of %d answers report more tokens than max_new_tokens %d: is the usage right?",
			who, p.beyond, p.load.Completed, row.MaxNewTokens), columns...)
	}
}

func warnPrompts(row *result.Row, info promptInfo) {
	for _, text := range info.warnings {
		warn(row, CodeDataset, text, "prompt_set")
	}
	if info.sent < info.asked {
		warn(row, CodeFewerPrompts, fmt.Sprintf("asked %d, the dataset gave %d (%s)", info.asked, info.sent, info.summary),
			"num_prompts")
	}
	if info.sent < row.Concurrency && row.RequestRate == nil {
		warn(row, CodeEffectiveConcurrency, fmt.Sprintf("effective %d: there were %d prompts for concurrency %d",
			info.sent, info.sent, row.Concurrency), "concurrency", "output_throughput_tok_s", "speedup")
	}
}

func warnPass(row *result.Row, l *load.Pass) {
	if l.UsageMissing > 0 {
		warn(row, CodeUsageMissing, fmt.Sprintf("throughput understated: %s", withoutTokens(l)), "output_throughput_tok_s", "speedup", "output_tokens")
	}
	if l.Failed > 0 {
		warn(row, CodeFailedRequests, fmt.Sprintf("%d of %d requests failed%s", l.Failed, l.Completed+l.Failed, because(l)),
			"failed", "output_throughput_tok_s", "speedup")
	}
	if l.Retries > 0 {
		warn(row, CodeRetries, fmt.Sprintf("%d retries, %.1f s of waiting between attempts, inside the clock",
			l.Retries, l.RetryWait.Seconds()), "retries", "output_throughput_tok_s", "speedup")
	}
	if row.OutputThroughputTokS == nil && l.Completed > 0 {
		warn(row, CodeNoThroughput, noTokens(l), "output_throughput_tok_s")
	}
	if l.PromptUsageMissing > 0 && l.PromptTokens > 0 || l.PromptUsageInvalid > 0 {
		warn(row, CodeNotReported, "prompt_tokens understated: "+without(l.PromptUsageMissing, l.PromptUsageInvalid, l.Completed, "prompt token count"), "prompt_tokens")
	}
	switch {
	case l.CachedInvalid > 0:
		warn(row, CodeNotReported, "cached_tokens: "+without(l.CachedInvalid, l.CachedInvalid, l.Completed, "count of cached tokens"), "cached_tokens")
	case row.CachedTokens == nil:
		warn(row, CodeNotReported, "cached_tokens: the answers do not say how many prompt tokens were cached", "cached_tokens")
	}
	if row.MeanOutputTokens == nil {
		warn(row, CodeNotReported, noCount(l), "mean_output_tokens")
	}
}

// withoutTokens says how many answers add nothing to the output tokens, and why.
func withoutTokens(l *load.Pass) string {
	return without(l.UsageMissing, l.UsageInvalid, l.Completed, "token count")
}

// without tells the answers that name no count from those, invalid of the missing, whose
// count is none.
func without(missing, invalid, all int, what string) string {
	var parts []string
	if absent := missing - invalid; absent > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d answers had no %s", absent, all, what))
	}
	if invalid > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d answers had a %s that is no whole number of at least 0", invalid, all, what))
	}
	return strings.Join(parts, ", ")
}

// noTokens says why there is no throughput.
func noTokens(l *load.Pass) string {
	if l.UsageMissing == l.Completed {
		return noCount(l)
	}
	return "the answers report no output tokens"
}

// noCount is said when no answer had a token count that is one.
func noCount(l *load.Pass) string {
	if l.UsageInvalid > 0 {
		return withoutTokens(l)
	}
	return "no answer had a token count"
}

// because is the commonest failure in brackets.
func because(l *load.Pass) string {
	if len(l.Failures) == 0 {
		return ""
	}
	return " (" + l.Failures[0].Example + ")"
}

func fillAcceptance(row *result.Row, p *pass) {
	st := &p.stats
	row.AcceptSource = string(st.Source)
	row.AcceptLength, row.AcceptanceRate = st.AcceptLength, st.AcceptanceRate
	row.SpeculativeNumSteps = st.NumSteps
	row.NumDrafts, row.NumDraftTokens, row.NumAcceptedTokens = st.NumDrafts, st.NumDraftTokens, st.NumAcceptedTokens
	row.PerPosition = st.PerPosition
	row.AcceptCoverage, row.TokensPerStep = st.Coverage, st.TokensPerStep
	if c := st.Coverage; c != nil && *c < goodCoverage {
		warn(row, CodeCoverage, fmt.Sprintf("the server's average covers about %.0f %% of the pass's decode steps: it is folded every so many steps", 100**c),
			"accept_length", "acceptance_rate")
	}
	for _, n := range st.Notes {
		warn(row, n.Code, n.Text, n.Columns...)
	}
	fillRequests(row, p)
	if row.TokensPerStep == nil && !row.Warnings.On("tokens_per_step") {
		warn(row, CodeNotReported, "tokens_per_step: the server does not count decode steps", "tokens_per_step")
	}
	if noted(p, specdec.CodeSpeculationOff) && row.BaselineEngine != "" {
		warn(row, CodeNotSpeculating, "the server itself does not speculate, so this compares two servers without speculation", "speedup")
	}
}

// noted tells whether a pass's statistics say that.
func noted(p *pass, code string) bool {
	return slices.ContainsFunc(p.stats.Notes, func(n specdec.Note) bool { return n.Code == code })
}

// warn adds a warning. Its text is one line.
func warn(row *result.Row, code, text string, columns ...string) {
	row.Warnings = append(row.Warnings, result.Warning{
		Code: code, Columns: columns, Text: strings.Join(strings.Fields(text), " "),
	})
}

func ptr[T any](v T) *T { return &v }
