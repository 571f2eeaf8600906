package plan

import "strings"

// noProxy is the word that turns a proxy off.
const noProxy = "none"

type tlsYAML struct {
	CAFile             *string `yaml:"ca_file" jsonschema_description:"PEM file with the certificates to trust, instead of the system's."`
	CertFile           *string `yaml:"cert_file" jsonschema_description:"PEM file with the client's certificate; goes with key_file."`
	KeyFile            *string `yaml:"key_file" jsonschema_description:"PEM file with the key of cert_file."`
	InsecureSkipVerify *truth  `yaml:"insecure_skip_verify" jsonschema_description:"Take any certificate; the rows say so. Default false."`
}

// tls builds the tls of a server or baseline. url is empty when it could not be
// read.
func (l *loader) tls(at, url string, y *tlsYAML) *TLS {
	if y == nil {
		return nil
	}
	scheme, _, _ := strings.Cut(url, "://")
	if url != "" && !strings.EqualFold(scheme, "https") {
		l.doc.add(at, "goes with an https URL only")
	}
	file := func(key string, name *string) string {
		switch {
		case name == nil:
			return ""
		case *name == "":
			l.doc.add(at+"."+key, "must not be empty")
			return ""
		}
		l.exists(at+"."+key, *name)
		return l.path(*name)
	}
	t := &TLS{
		CAFile: file("ca_file", y.CAFile), CertFile: file("cert_file", y.CertFile), KeyFile: file("key_file", y.KeyFile),
		InsecureSkipVerify: bool(valueOr(y.InsecureSkipVerify, false)),
	}
	hasCert, hasKey := l.doc.has(at+".cert_file"), l.doc.has(at+".key_file")
	switch {
	case hasCert && !hasKey:
		l.doc.add(at+".cert_file", "goes with key_file: give both or neither")
	case hasKey && !hasCert:
		l.doc.add(at+".key_file", "goes with cert_file: give both or neither")
	case *t == TLS{} && y.InsecureSkipVerify == nil && l.doc.clean(at):
		l.doc.add(at, "an empty mapping: give at least one key, or leave tls out")
	}
	return t
}

// checkProxy notes what is wrong with a proxy where it is written.
func (l *loader) checkProxy(at string, raw, text *string) {
	switch {
	case raw == nil || text == nil || *text == noProxy:
		return
	case literalPassword(*raw):
		l.doc.add(at, "a password must not stand in a plan: use ${VAR}")
		return
	}
	if problem := checkURL(*text, "http", "https", "socks5"); problem != "" {
		l.doc.add(at, "%s", problem)
	}
}

// proxyOf is the proxy of an endpoint, or empty.
func proxyOf(c commonYAML) string {
	if c.Proxy == nil || *c.Proxy == noProxy {
		return ""
	}
	return strings.TrimRight(*c.Proxy, "/")
}
