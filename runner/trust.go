package runner

import (
	"net/http"
	"net/url"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/openai"
	"github.com/specsweep/specsweep/runner/result"
)

// CodeNotVerified marks every row of a server whose certificate the plan tells us not
// to check: anybody may have answered. It is the plan's choice, so strict lets it be.
const CodeNotVerified = "tls_not_verified"

// trust is an endpoint's tls as the client takes it.
func trust(e *plan.Endpoint) openai.TLS {
	if e.TLS == nil {
		return openai.TLS{}
	}
	return openai.TLS{
		CAFile: e.TLS.CAFile, CertFile: e.TLS.CertFile, KeyFile: e.TLS.KeyFile,
		InsecureSkipVerify: e.TLS.InsecureSkipVerify,
	}
}

// unverified says that an endpoint's certificate is not checked; empty: it is, or
// there is none.
func unverified(e *plan.Endpoint) string {
	if e.TLS == nil || !e.TLS.InsecureSkipVerify {
		return ""
	}
	host := "the server"
	if u, err := url.Parse(e.URL); err == nil { // {port} is no port yet
		host = u.Host
	}
	return "the certificate of " + host + " is not verified"
}

// markTrust marks a row whose server or baseline, nil for none, is not verified.
func markTrust(row *result.Row, server, baseline *plan.Endpoint) {
	if text := unverified(server); text != "" {
		warn(row, CodeNotVerified, text, "server")
	}
	if baseline == nil {
		return
	}
	if text := unverified(baseline); text != "" {
		warn(row, CodeNotVerified, "baseline: "+text, "baseline_throughput_tok_s", "speedup")
	}
}

// occupied tells whether what came of a look at a launched server's address before its
// start means that something is there already.
func occupied(e *plan.Endpoint, status int, err error) bool {
	if err != nil {
		return openai.Untrusted(err)
	}
	if e.Proxy != "" {
		switch status {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return false // the proxy's own words for nobody there
		}
	}
	return true
}
