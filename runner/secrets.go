package runner

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/result"
	"github.com/specsweep/specsweep/runner/secret"
	"github.com/specsweep/specsweep/runner/serve"
)

// guessedLength is the length in bytes of the shortest value that counts as a secret
// because of its variable's name alone: "true" and "none" do not.
const guessedLength = 6

// secrets is what must not be in what a server says: what it is sent, and of a
// launched one what stands in its environment and its command too.
func (s *server) secrets() *secret.Redactor {
	e := s.plan
	var values []string
	// That a key cannot be read is connect's to say.
	if key, err := apiKey(e, s.opts.LookupEnv); err == nil {
		values = append(values, key)
	}
	values = append(values, secret.InURL(serve.Expand(e.URL, s.port))...)
	values = append(values, secret.InURL(e.Proxy)...)
	fromPlan := s.variables()
	for name, value := range e.Headers {
		if secret.Name(name) || slices.ContainsFunc(fromPlan, func(v string) bool { return strings.Contains(value, v) }) {
			_, token, _ := strings.Cut(strings.TrimSpace(value), " ") // Bearer …
			values = append(values, value, token)
		}
	}
	if e.Launch != nil {
		values = append(values, launchSecrets(e.Launch, s.opts.Environ)...)
	}
	return secret.NewRedactor(values...)
}

// variable is a ${VAR} or ${VAR:-default} of a plan.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)`)

// variables is what the variables hold that the plan names. Which of them a header was
// made of, the loaded plan no longer tells.
func (s *server) variables() []string {
	var values []string
	for _, m := range variable.FindAllSubmatch(s.opts.Plan.Source, -1) {
		if value, _ := s.opts.LookupEnv(string(m[1])); len(value) >= guessedLength {
			values = append(values, value)
		}
	}
	return values
}

// launchSecrets is what a launched server is started with and should not repeat.
func launchSecrets(l *plan.Launch, environ []string) []string {
	var values []string
	add := func(name, value string) {
		if secret.Name(name) && len(value) >= guessedLength && !counts(name, value) {
			values = append(values, value)
		}
		// HTTP_PROXY and DATABASE_URL look innocent.
		if strings.Contains(value, "://") {
			values = append(values, slices.DeleteFunc(secret.InURL(value), func(v string) bool { return len(v) < guessedLength })...)
		}
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		add(name, value)
	}
	for name, value := range l.Env {
		add(name, value)
	}
	for i, word := range l.Command {
		if i >= len(l.RawCommand) || word == l.RawCommand[i] {
			continue // it stands in the plan, which everybody may read
		}
		flag, value, ok := strings.Cut(word, "=")
		if !ok && i > 0 {
			flag, value = l.Command[i-1], word
		}
		add(flag, value)
	}
	return values
}

// counts tells whether a variable is a number of tokens, such as
// MAX_NUM_BATCHED_TOKENS.
func counts(name, value string) bool {
	_, err := strconv.Atoi(value)
	return err == nil && strings.HasSuffix(strings.ToLower(strings.ReplaceAll(name, "-", "_")), "_tokens")
}

// longestText is how many characters of what a server says the record keeps.
const longestText = 2000

// shorten cuts a text of unbounded length.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= longestText {
		return text
	}
	return string([]rune(text)[:longestText-1]) + "…"
}

// tidy makes what servers have said fit for the record: no secret of theirs or of
// their baseline's, and not without end.
func (s *sweep) tidy(row *result.Row, r int) {
	own := s.servers[s.schedule.serverOf[r]].secrets()
	var base *secret.Redactor
	if b := s.schedule.baselineOf[r]; b >= 0 {
		base = s.servers[b].secrets()
	}
	said := func(text string) string { return shorten(own.String(base.String(text))) }
	row.Model, row.ServerVersion, row.BaselineVersion = shorten(row.Model), shorten(row.ServerVersion), shorten(row.BaselineVersion)
	if row.Error != "" {
		row.Error = said(row.Error)
	}
	for i := range row.Warnings {
		row.Warnings[i].Text = said(row.Warnings[i].Text)
	}
}

// tidyRecord does the same for what is known of a server. It changes nothing that the
// record shares with others.
func tidyRecord(r ServerRecord, secrets *secret.Redactor) ServerRecord {
	said := func(text string) string { return shorten(secrets.String(text)) }
	r.Model, r.Version = shorten(r.Model), shorten(r.Version)
	r.Models = mapped(r.Models, shorten)
	r.Notes = mapped(r.Notes, said)
	if r.Spec != nil {
		spec := map[string]string{}
		for name, value := range r.Spec {
			spec[shorten(name)] = said(value)
		}
		r.Spec = spec
	}
	if r.Err = secrets.Error(r.Err); r.Err != nil && utf8.RuneCountInString(r.Err.Error()) > longestText {
		r.Err = &shortError{r.Err}
	}
	return r
}

// mapped is a new slice; nil for nil.
func mapped(texts []string, f func(string) string) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = f(text)
	}
	return out
}

// shortError is an error whose text is cut.
type shortError struct{ err error }

func (e *shortError) Error() string { return shorten(e.err.Error()) }
func (e *shortError) Unwrap() error { return e.err }
