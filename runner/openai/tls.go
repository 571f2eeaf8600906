package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
)

// TLS is how an https server is trusted and told who asks. The zero value trusts
// the system's certificates and shows none.
type TLS struct {
	CAFile string // PEM; its certificates are trusted instead of the system's
	// CertFile and KeyFile are the client's own certificate, with the chain that
	// signs it, and its key, both PEM. Both or neither.
	CertFile, KeyFile string
	// InsecureSkipVerify takes any certificate. Whoever stands in between then reads
	// the key and makes up the answers.
	InsecureSkipVerify bool
}

// config reads the files. Its errors name the one that is wrong.
func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the plan asks for it, and each row says so
	}
	var err error
	if c.RootCAs, err = t.roots(nil); err != nil {
		return nil, err
	}
	if t.CertFile == "" && t.KeyFile == "" {
		return c, nil
	}
	own, err := t.own()
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{own}
	return c, nil
}

// roots is the certificates of CAFile added to pool, nil for none; without a CAFile
// it is pool itself.
func (t TLS) roots(pool *x509.CertPool) (*x509.CertPool, error) {
	if t.CAFile == "" {
		return pool, nil
	}
	text, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	if pool == nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_file %s: holds no certificate: want PEM, which begins with -----BEGIN CERTIFICATE-----", t.CAFile)
	}
	return pool, nil
}

// own is the client's certificate.
func (t TLS) own() (tls.Certificate, error) {
	none := tls.Certificate{}
	if t.CertFile == "" || t.KeyFile == "" {
		return none, errors.New("cert_file and key_file go together: give both or neither")
	}
	cert, err := os.ReadFile(t.CertFile)
	if err != nil {
		return none, fmt.Errorf("reading cert_file: %w", err)
	}
	key, err := os.ReadFile(t.KeyFile)
	if err != nil {
		return none, fmt.Errorf("reading key_file: %w", err)
	}
	// crypto/tls tells the two files apart in no error's type, so cert_file is looked
	// at alone first.
	if !x509.NewCertPool().AppendCertsFromPEM(cert) {
		return none, fmt.Errorf("cert_file %s: holds no certificate: want PEM, which begins with -----BEGIN CERTIFICATE-----", t.CertFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return none, fmt.Errorf("key_file %s for cert_file %s: %w", t.KeyFile, t.CertFile, err)
	}
	return pair, nil
}

// Untrusted tells whether TLS with the other side failed for a reason that waiting
// will not mend: it is there, but its certificate is not trusted, it does not take
// ours, or it does not speak TLS at all.
func Untrusted(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		noTLS       tls.RecordHeaderError
	)
	return errors.As(err, &certificate) || errors.As(err, &noTLS) || errors.Is(err, http.ErrSchemeMismatch) || alert(err) != nil
}

// alert is what the other side sent to end TLS, nil for anything else.
func alert(err error) *net.OpError {
	var op *net.OpError
	for errors.As(err, &op) {
		if op.Op == "remote error" { // so crypto/tls calls it
			return op
		}
		err = op.Err
	}
	return nil
}

// advised adds to the errors of TLS what to do about them.
type advised struct {
	*http.Transport
	tls TLS
}

// RoundTrip is the Transport's.
func (a advised) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.Transport.RoundTrip(r)
	if err == nil {
		return resp, nil
	}
	if advice := a.tls.advice(err); advice != "" {
		err = fmt.Errorf("%w (%s)", err, advice)
	}
	return resp, err
}

func (t TLS) advice(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		bad     *tls.CertificateVerificationError
	)
	switch a := alert(err); {
	case errors.As(err, &name):
		return "put a name that the certificate is valid for into the URL"
	case errors.As(err, &unknown):
		if t.CAFile != "" {
			return "no certificate in ca_file " + t.CAFile + " vouches for it"
		}
		return "name the certificates to trust as tls.ca_file of the server"
	case errors.As(err, &bad):
		return "the server needs another certificate, or the plan another tls.ca_file"
	case !aboutClient(a):
	case t.CertFile == "":
		return "a server that wants a client certificate gets it from tls.cert_file and key_file"
	default:
		return "does the server take the certificate in cert_file " + t.CertFile + "?"
	}
	return ""
}

// aboutClient tells whether an alert, which may be nil, can mean the client's
// certificate. Up to TLS 1.2 a missing one is a handshake failure (RFC 5246, section
// 7.4.6).
func aboutClient(alert *net.OpError) bool {
	if alert == nil {
		return false
	}
	text := alert.Err.Error()
	return strings.Contains(text, "certificate") || strings.Contains(text, "handshake failure")
}
