package plan

import (
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
)

// serverID is what of a pair goes into the ids of its cells, as it is written.
type serverID struct {
	name                         string
	engine, model, baselineModel *string
	extraBody                    map[string]any
	numSteps                     *int
	sources                      []string
}

// servers builds the pairs. Values inherit key by key, the nearer wins; a
// baseline inherits from the plan what inheritBaseline says, and nothing else.
func (l *loader) servers() {
	if l.doc.has("servers") && l.file.Servers != nil && len(l.file.Servers) == 0 {
		l.doc.add("servers", "an empty list: give at least one server")
	}
	l.common("", l.raw.commonYAML, l.file.commonYAML)
	shared, sharedModel := l.baseline("baseline_server", l.raw.BaselineServer, l.file.BaselineServer)
	first := map[string]string{}
	for i := range l.file.Servers {
		raw, s := &l.raw.Servers[i], &l.file.Servers[i]
		at := item("servers", s.entry)
		if !l.collides(at, i) {
			checkName(l.doc, at+".name", s.Name, first)
		}
		l.common(at, raw.commonYAML, s.commonYAML)

		server := Server{Name: valueOr(s.Name, ""), Endpoint: l.endpoint(at, inherit(l.file.commonYAML, s.commonYAML))}
		server.URL = l.url(at+".server", raw.Server, s.Server, s.Launch != nil)
		server.TLS = l.tls(at+".tls", server.URL, s.TLS)
		server.Launch = l.launch(at+".launch", raw.Launch, s.Launch)
		server.NumSteps = nearer((*int)(s.NumSteps), (*int)(l.file.NumSteps))
		baselineModel := sharedModel
		server.Baseline = shared
		if s.BaselineServer != nil {
			server.Baseline, baselineModel = l.baseline(at+".baseline_server", raw.BaselineServer, s.BaselineServer)
		}
		l.plan.Servers = append(l.plan.Servers, server)

		written := inherit(l.raw.commonYAML, raw.commonYAML)
		l.serverIDs = append(l.serverIDs, serverID{
			valueOr(raw.Name, ""), written.Engine, written.Model, baselineModel, written.ExtraBody, server.NumSteps,
			written.Sources.sorted(),
		})
	}
}

// baseline builds a baseline_server and gives its model as it is written. It is
// nil when there is none.
func (l *loader) baseline(at string, raw, b *baselineYAML) (*Endpoint, *string) {
	if b == nil || b.word != nil && *b.word == "none" {
		return nil, nil
	}
	urlAt := at + ".server"
	if b.word != nil {
		urlAt = at
	}
	l.common(at, raw.commonYAML, b.commonYAML)
	e := l.endpoint(at, inheritBaseline(l.file.commonYAML, b.commonYAML))
	e.URL = l.url(urlAt, raw.Server, b.Server, b.Launch != nil)
	e.TLS = l.tls(at+".tls", e.URL, b.TLS)
	e.Launch = l.launch(at+".launch", raw.Launch, b.Launch)
	return &e, inheritBaseline(l.raw.commonYAML, raw.commonYAML).Model
}

func inherit(plan, own commonYAML) commonYAML {
	c := inheritBaseline(plan, own)
	c.Labels = merged(plan.Labels, own.Labels)
	c.Headers = mergedHeaders(plan.Headers, own.Headers)
	if own.APIKeyEnv == nil && own.APIKeyFile == nil {
		c.APIKeyEnv, c.APIKeyFile = plan.APIKeyEnv, plan.APIKeyFile
	}
	return c
}

// inheritBaseline leaves headers and keys alone: a key belongs to one host, and
// the baseline is another. It takes accept_sources over, since what a source asks
// of a server (fields in the body, an emptied cache) must happen on both or neither.
func inheritBaseline(plan, own commonYAML) commonYAML {
	own.Engine = nearer(own.Engine, plan.Engine)
	own.Model = nearer(own.Model, plan.Model)
	own.Proxy = nearer(own.Proxy, plan.Proxy)
	own.ExtraBody = merged(plan.ExtraBody, own.ExtraBody)
	if own.Sources == nil {
		own.Sources = plan.Sources
	}
	return own
}

// endpoint takes over what servers and baselines share.
func (l *loader) endpoint(at string, c commonYAML) Endpoint {
	if c.Engine == nil && !l.doc.has("engine") && !l.doc.has(at+".engine") {
		l.doc.add(at+".engine", "required, here or at the top of the plan %s", have(l.opts.Engines))
	}
	e := Endpoint{
		Engine: valueOr(c.Engine, ""), Model: valueOr(c.Model, ""), Labels: c.Labels, Headers: c.Headers,
		APIKeyEnv: valueOr(c.APIKeyEnv, ""), ExtraBody: c.ExtraBody, AcceptSources: c.Sources.sorted(),
		Proxy: proxyOf(c),
	}
	if c.APIKeyFile != nil {
		e.APIKeyFile = l.path(*c.APIKeyFile)
	}
	return e
}

func (l *loader) launch(at string, raw, y *launchYAML) *Launch {
	if y == nil {
		return nil
	}
	if l.doc.has(at+".command") && len(y.Command) == 0 && l.doc.clean(at+".command") {
		l.doc.add(at+".command", "an empty list: give a program and its arguments")
	}
	if len(y.Command) > 0 && y.Command[0] == "" && l.doc.clean(at+".command") {
		l.doc.add(at+".command", "the program's name is empty")
	}
	for i, word := range y.Command {
		if strings.Contains(word, "\x00") {
			l.doc.add(item(at+".command", i), "a word of a command cannot hold a NUL character")
		}
	}
	for _, name := range sortedKeys(y.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			l.doc.add(join(at+".env", name), "a variable's name must not be empty and not hold =")
		}
	}
	restart := valueOr(y.Restart, string(RestartNever))
	if known := []string{string(RestartNever), string(RestartPerDataset), string(RestartPerRun)}; !slices.Contains(known, restart) {
		l.doc.add(at+".restart", "unknown restart %q %s", clip(restart), unknown(restart, known))
	}
	return &Launch{
		Command: y.Command, RawCommand: raw.Command, Env: y.Env,
		ReadyTimeout: time.Duration(valueOr(y.ReadyTimeoutS, seconds(900*time.Second))), Restart: Restart(restart),
	}
}

// checkName checks the name of a server or dataset; first holds where each stands.
func checkName(doc *document, at string, name *string, first map[string]string) {
	if name == nil {
		return
	}
	control := func(r rune) bool { return !unicode.IsPrint(r) }
	switch other, taken := first[*name]; {
	case strings.TrimSpace(*name) == "":
		doc.add(at, "must not be empty")
	case strings.TrimSpace(*name) != *name:
		doc.add(at, "must not begin or end with a blank")
	case strings.ContainsFunc(*name, control):
		doc.add(at, "must not hold line breaks or other control characters (have %q)", clip(*name))
	case taken:
		doc.add(at, "%q is the name of %s already", clip(*name), other)
	default:
		first[*name] = strings.TrimSuffix(at, ".name")
	}
}

// exists notes a file that is not there.
func (l *loader) exists(at, name string) {
	if _, err := os.Stat(l.path(name)); err != nil {
		l.doc.add(at, "%s", statProblem(l.path(name), err))
	}
}

func nearer[T any](own, further *T) *T {
	if own != nil {
		return own
	}
	return further
}

func merged[M ~map[string]V, V any](further, own M) M {
	if further == nil {
		return own
	}
	out := maps.Clone(further)
	maps.Copy(out, own)
	return out
}

// mergedHeaders knows that the names of headers are the same in any case.
func mergedHeaders(further, own texts) texts {
	out := maps.Clone(further)
	for name := range own {
		maps.DeleteFunc(out, func(have, _ string) bool { return strings.EqualFold(have, name) })
	}
	return merged(out, own)
}

func intPointer(c *count) *int {
	if c == nil {
		return nil
	}
	i := int(*c)
	return &i
}
