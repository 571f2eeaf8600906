package specdec

// The codes of Notes: why a value is nil.
const (
	// CodeSpeculationOff: the server runs without speculation.
	CodeSpeculationOff = "speculation_off"
	// CodeNothingDrafted: speculation is on, but no draft was made in the pass.
	CodeNothingDrafted = "nothing_drafted"
	// CodeUnreachable: the server's statistics could not be had or not be read.
	CodeUnreachable = "statistics_unreachable"
	// CodeRunTooShort: the server has not yet folded the pass into its statistics.
	CodeRunTooShort = "run_too_short"
	// CodeStatisticsOff: the server was told to keep no statistics.
	CodeStatisticsOff = "statistics_off"
	// CodeCountersFell: the server restarted during the pass.
	CodeCountersFell = "counters_fell"
	// CodeInconsistent: the numbers contradict each other.
	CodeInconsistent = "inconsistent_statistics"
	// CodeNoDraftTokens: drafts were made, but none proposed a token.
	CodeNoDraftTokens = "no_draft_tokens"
	// CodeNoNumSteps: a rate needs the number of speculative steps, which neither
	// the server nor the plan tells.
	CodeNoNumSteps = "no_num_steps"
	// CodeRanks: not every data-parallel rank reports, or none says how much its
	// value weighs.
	CodeRanks = "ranks_not_combined"
	// CodeModelNotFound: the statistics speak of other models only.
	CodeModelNotFound = "model_not_in_statistics"
	// CodeNotReported: this kind of server does not tell.
	CodeNotReported = "not_reported"
)

// The codes of Notes: why a value is doubtful.
const (
	// CodeCumulative: the value covers all that the server did since it started,
	// because the state before the pass is not known.
	CodeCumulative = "cumulative"
	// CodeContaminated: the value blends in an earlier pass of the same sweep.
	CodeContaminated = "contaminated"
	// CodeDepthFraction: the rate is the mean accepted depth over the number of
	// steps and not accepted over proposed tokens, because drafts are trees.
	CodeDepthFraction = "depth_fraction"
	// CodePartial: not every answer told its counts, and those that did not are left
	// out.
	CodePartial = "partly_reported"
	// CodeWeakerSource: a better source was tried in vain.
	CodeWeakerSource = "weaker_source"
)
