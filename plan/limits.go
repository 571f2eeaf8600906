package plan

import (
	"time"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
)

// maxDurationYAML is max_duration_s: seconds of one pass, or a mapping.
type maxDurationYAML struct {
	plain bool // a number
	durationsYAML
}

type durationsYAML struct {
	Run   *seconds `yaml:"run" jsonschema_description:"Seconds that one pass may take."`
	Sweep *seconds `yaml:"sweep" jsonschema_description:"Seconds after which no pass is started."`
}

func (m *maxDurationYAML) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if isMapping(n) {
		fresh, ok := decodeStruct[durationsYAML](d, n, path)
		m.durationsYAML = fresh
		return ok
	}
	if !isNumber(n) {
		return d.wrong(n, path, "seconds of one pass, or a mapping with run and sweep")
	}
	var s seconds
	ok := s.decodeYAML(d, n, path)
	m.plain, m.Run = true, &s
	return ok
}

func (maxDurationYAML) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{seconds(0).JSONSchema(), {Ref: "#/$defs/durations"}}}
}

// limits takes over when a run or the sweep is given up.
func (l *loader) limits() {
	f, p := &l.file, l.plan
	p.AbortAfterFailures = int(valueOr(f.AbortAfterFailures, 0))
	m := f.MaxDurationS
	if m == nil {
		return
	}
	p.MaxRunDuration = time.Duration(valueOr(m.Run, 0))
	p.MaxSweepDuration = time.Duration(valueOr(m.Sweep, 0))
	if !m.plain && m.Run == nil && m.Sweep == nil && l.doc.clean("max_duration_s") {
		l.doc.add("max_duration_s", "give at least one of run and sweep")
	}
}
