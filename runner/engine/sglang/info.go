package sglang

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/specsweep/specsweep/runner/specdec"
)

// The keys of /server_info that are read (SGLang's ServerArgs, and
// get_internal_state of its scheduler).
const (
	keyAlgorithm      = "speculative_algorithm"
	keyDraftModel     = "speculative_draft_model_path"
	keyNumSteps       = "speculative_num_steps"
	keyTopK           = "speculative_eagle_topk"
	keyNumDraftTokens = "speculative_num_draft_tokens"
	keyAverage        = "avg_spec_accept_length" // Σ tokens / Σ verify steps of a rank, folded every foldSteps
	keyStates         = "internal_states"
	keyDecode         = "decode"
	keyRanks          = "dp_size"
	keyInterval       = "decode_log_interval" // foldSteps, where it was set
)

// foldSteps is SGLang's default decode_log_interval: only every so many decode
// steps are its sums brought up to date.
const foldSteps = 40

// object is a JSON object whose values are looked at one by one, because their
// types differ between versions.
type object map[string]json.RawMessage

// info is what a server tells about itself.
type info struct {
	server object   // what the server that decodes tells of itself
	decode []object // a router's decode servers, server being the first; nil: no router
	states []object // the server's state by data-parallel rank; nil entries are no objects
	listed bool     // there is a list of states, even if it is empty
}

// parse reads an answer. A list of decode servers (prefill/decode
// disaggregation) stands for the server by its first element.
func parse(body []byte) (info, error) {
	var i info
	if err := json.Unmarshal(body, &i.server); err != nil {
		return info{}, fmt.Errorf("not a JSON object: %w", err)
	}
	if i.server == nil {
		return info{}, errors.New("not a JSON object: null")
	}
	if raw, ok := i.server[keyDecode]; ok {
		if err := json.Unmarshal(raw, &i.decode); err != nil || len(i.decode) == 0 || i.decode[0] == nil {
			return info{}, errors.New("decode is not a list of servers")
		}
		i.server = i.decode[0]
	}
	var states []json.RawMessage
	if err := json.Unmarshal(i.server[keyStates], &states); err == nil && states != nil {
		i.listed = true
		for _, raw := range states {
			var o object
			if json.Unmarshal(raw, &o) != nil {
				o = nil // a rank that tells nothing
			}
			i.states = append(i.states, o)
		}
	}
	return i, nil
}

// setting is a value of the first rank's state, else of the server; null counts
// as absent.
func (i info) setting(key string) json.RawMessage {
	if len(i.states) > 0 && present(i.states[0][key]) {
		return i.states[0][key]
	}
	if present(i.server[key]) {
		return i.server[key]
	}
	return nil
}

// numSteps is speculative_num_steps, nil when it is no positive whole number.
func (i info) numSteps() *int {
	for _, from := range []json.RawMessage{i.first()[keyNumSteps], i.server[keyNumSteps]} {
		if n := integer(from); n != nil && *n > 0 {
			return n
		}
	}
	return nil
}

func (i info) first() object {
	if len(i.states) == 0 {
		return nil
	}
	return i.states[0]
}

// average is the server's accept_length, or why there is none. Ranks do not tell
// how many steps theirs is the mean of, so several cannot be made one.
func (i info) average() (float64, *specdec.Note) {
	var values []float64
	for _, s := range i.states {
		if v, ok := number(s[keyAverage]); ok {
			values = append(values, v)
		}
	}
	ranks := len(i.states)
	if n := integer(i.server[keyRanks]); n != nil {
		ranks = max(ranks, *n)
	}
	switch {
	case len(values) == 0:
		return 0, i.silence()
	case ranks > 1:
		return 0, &specdec.Note{Code: specdec.CodeRanks,
			Text: fmt.Sprintf("%d of %d ranks report an average, without the weights to make it one", len(values), ranks)}
	case values[0] < 1:
		return 0, &specdec.Note{Code: specdec.CodeInconsistent,
			Text: fmt.Sprintf("%s is %v, but every verify step yields a token", keyAverage, values[0])}
	}
	return values[0], nil
}

// silence is why no rank tells an average.
func (i info) silence() *specdec.Note {
	algorithm, _ := text(i.setting(keyAlgorithm))
	_, known := i.server[keyAlgorithm]
	switch {
	case algorithm == "" && known:
		return &specdec.Note{Code: specdec.CodeSpeculationOff,
			Text: "the server runs without speculation (" + keyAlgorithm + " is not set)"}
	case algorithm == "":
		return &specdec.Note{Code: specdec.CodeNotReported,
			Text: "the server tells neither " + keyAlgorithm + " nor " + keyAverage}
	case !i.listed:
		return &specdec.Note{Code: specdec.CodeNotReported,
			Text: fmt.Sprintf("speculation is on (%s), but this server has no %s to tell an average: SGLang %s", algorithm, keyStates, i.version())}
	case len(i.states) == 0:
		return &specdec.Note{Code: specdec.CodeNotReported,
			Text: fmt.Sprintf("speculation is on (%s), but %s is empty: 0 ranks report", algorithm, keyStates)}
	}
	return &specdec.Note{Code: specdec.CodeRunTooShort,
		Text: fmt.Sprintf("speculation is on (%s), but the server reports no average yet: it folds its statistics only every %d decode steps; "+
			"measure more prompts or longer answers", algorithm, i.foldInterval())}
}

// foldInterval is after how many decode steps of the batch the average moves.
func (i info) foldInterval() int {
	if n := integer(i.setting(keyInterval)); n != nil && *n > 0 {
		return *n
	}
	return foldSteps
}

func (i info) version() string {
	if v, ok := text(i.server["version"]); ok {
		return v
	}
	return "of unknown version"
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// number is a JSON number; strings and booleans are none.
func number(raw json.RawMessage) (float64, bool) {
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil
}

// integer is a JSON number without fraction or exponent.
func integer(raw json.RawMessage) *int {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		return nil
	}
	return &n
}

// text is a JSON string.
func text(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// scalar is a JSON string, number or boolean as text, empty for anything else.
func scalar(raw json.RawMessage) string {
	if s, ok := text(raw); ok {
		return s
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v.(type) {
	case float64, bool:
		return string(raw)
	}
	return ""
}
