package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
)

// The values of a plan that say how requests arrive and what of each is watched.

type sloYAML struct {
	TTFTMs *positive `yaml:"ttft_ms" jsonschema_description:"Milliseconds to the first token at most; wants stream: true."`
	TPOTMs *positive `yaml:"tpot_ms" jsonschema_description:"Milliseconds per further token at most; wants stream: true."`
	E2EMs  *positive `yaml:"e2e_latency_ms" jsonschema_description:"Milliseconds from the start of a request to its last byte at most."`
}

// positive is a number above 0.
type positive float64

func (f *positive) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	v, ok := d.float(n, path)
	*f = positive(v)
	if ok && v <= 0 {
		return d.rule(n, path, fmt.Sprintf("must be above 0 (have %s)", clip(n.Value)))
	}
	return ok
}

func (positive) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: "0"}
}

// infWord is the request_rate of a closed loop.
const infWord = "inf"

// rates is the axis request_rate: numbers above 0, or inf. Variables are not
// expanded: how much is sent stands in the plan.
type rates []float64

func (r *rates) decodeYAML(d *decoder, n *yaml.Node, path string) (ok bool) {
	*r, ok = axis(d, n, path, d.rate, checkRate)
	return ok
}

func (rates) JSONSchema() *jsonschema.Schema {
	return oneOrMore(&jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number", ExclusiveMinimum: "0"}, {Const: infWord}}})
}

func (d *decoder) rate(n *yaml.Node, path string) (float64, bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == infWord {
		return math.Inf(1), true
	}
	if !isNumber(n) || !floatForm.MatchString(n.Value) {
		return 0, d.wrong(n, path, "requests per second, or inf")
	}
	return d.float(n, path)
}

func checkRate(f float64) string {
	if f > 0 {
		return ""
	}
	return fmt.Sprintf("must be above 0 (have %v)", f)
}

// parseRate reads a rate as a plan has it.
func parseRate(word string) (float64, bool) {
	if word == infWord {
		return math.Inf(1), true
	}
	f, err := strconv.ParseFloat(word, 64)
	return f, err == nil && floatForm.MatchString(word) && checkRate(f) == ""
}

// rate is the run's value on the axis: +Inf for a closed loop.
func (r *Run) rate() float64 {
	if r.RequestRate == 0 {
		return math.Inf(1)
	}
	return r.RequestRate
}

// finiteRate is the value of the axis as a Run has it: 0 for a closed loop.
func finiteRate(f float64) float64 {
	if math.IsInf(f, 1) {
		return 0
	}
	return f
}

// rateText writes a value of the axis as a plan does.
func rateText(f float64) string {
	if math.IsInf(f, 1) {
		return infWord
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// traffic takes over the keys of this file that the plan alone has.
func (l *loader) traffic() {
	f, p := &l.file, l.plan
	p.Stream = bool(valueOr(f.Stream, false))
	p.Seed = uint64(valueOr(f.Seed, 0))
	p.SaveOutputs = bool(valueOr(f.SaveOutputs, false))
	p.SaveRequests = bool(valueOr(f.SaveRequests, false)) || p.SaveOutputs
	if f.SaveRequests != nil && !bool(*f.SaveRequests) && p.SaveOutputs {
		l.doc.add("save_requests", "save_outputs: true wants the requests too: leave save_requests out")
	}
	p.Arrivals = Arrivals(valueOr(f.Arrivals, string(ArrivalsPoisson)))
	if known := []string{string(ArrivalsPoisson), string(ArrivalsConstant)}; !slices.Contains(known, string(p.Arrivals)) {
		l.doc.add("arrivals", "unknown arrivals %q %s", clip(string(p.Arrivals)), unknown(string(p.Arrivals), known))
	}
	if f.SLO != nil {
		l.slo(*f.SLO)
	}
}

func (l *loader) slo(y sloYAML) {
	l.plan.SLO = SLO{TTFTMs: (*float64)(y.TTFTMs), TPOTMs: (*float64)(y.TPOTMs), E2EMs: (*float64)(y.E2EMs)}
	if !l.plan.SLO.Any() && l.doc.clean("slo") {
		l.doc.add("slo", "give at least one of ttft_ms, tpot_ms and e2e_latency_ms")
	}
	if l.plan.Stream || !l.doc.clean("stream") {
		return
	}
	for _, key := range []string{"slo.ttft_ms", "slo.tpot_ms"} {
		if l.doc.has(key) {
			l.doc.add(key, "can only be told of a streamed answer: give stream: true")
		}
	}
}
