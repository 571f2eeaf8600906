package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/specsweep/specsweep/plan"
)

// overrideFlags are the workload flags of run: they replace the plan's values
// and the datasets' own, and are recorded in the manifest.
type overrideFlags struct {
	numPrompts   []string
	concurrency  []int
	maxNewTokens []int
	temperature  []float64
	requestRate  []string
	repeats      int
	only         []string
}

func (o *overrideFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.numPrompts, "num-prompts", nil, "replace num_prompts (a number, or 10x per slot of concurrency)")
	fs.IntSliceVar(&o.concurrency, "concurrency", nil, "replace concurrency")
	fs.IntSliceVar(&o.maxNewTokens, "max-new-tokens", nil, "replace max_new_tokens")
	fs.Float64SliceVar(&o.temperature, "temperature", nil, "replace temperature")
	fs.StringSliceVar(&o.requestRate, "request-rate", nil, "replace request_rate (requests per second, or inf for a closed loop)")
	fs.IntVar(&o.repeats, "repeats", 0, "replace repeats")
	fs.StringArrayVar(&o.only, "only", nil, "run only these cells: key=value[,value] over server, dataset and axes; may be repeated")
}

// override is what the flags that were given say.
func (o *overrideFlags) override(fs *pflag.FlagSet) (plan.Override, error) {
	v := plan.Override{Concurrency: o.concurrency, MaxNewTokens: o.maxNewTokens, Temperature: o.temperature}
	for _, text := range o.numPrompts {
		digits, perSlot := strings.CutSuffix(text, "x")
		n, err := strconv.Atoi(digits)
		if err != nil {
			return v, fmt.Errorf("--num-prompts %q: want a number, or a number and x for prompts per slot of concurrency", text)
		}
		v.NumPrompts = append(v.NumPrompts, plan.NumPrompts{N: n, PerSlot: perSlot})
	}
	for _, text := range o.requestRate {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate > 0) {
			return v, fmt.Errorf("--request-rate %q: want requests per second above 0, or inf", text)
		}
		v.RequestRate = append(v.RequestRate, rate)
	}
	if fs.Changed("repeats") {
		v.Repeats = &o.repeats
	}
	return v, nil
}

// given are the workload flags as they were typed, for the record.
func (o *overrideFlags) given(fs *pflag.FlagSet) map[string]string {
	given := map[string]string{}
	for _, name := range []string{"num-prompts", "concurrency", "max-new-tokens", "temperature", "request-rate", "repeats", "only"} {
		if f := fs.Lookup(name); f != nil && f.Changed {
			given[strings.ReplaceAll(name, "-", "_")] = strings.Trim(f.Value.String(), "[]")
		}
	}
	return given
}
