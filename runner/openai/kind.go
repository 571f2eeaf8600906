package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
)

// Kind is a short description of a Completion's error for counting: errors that
// differ only in addresses, ids or numbers are of one kind, so that a pass with
// 64 refused prompts logs one line and not 64. It is empty for nil.
func Kind(err error) string {
	var (
		refused     *HTTPError
		certificate *tls.CertificateVerificationError
		dns         *net.DNSError
		op          *net.OpError
		timed       interface{ Timeout() bool }
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return fmt.Sprintf("HTTP %d: %s", refused.Status, general(refused.Message))
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF.Error()
	case errors.Is(err, errNotJSON):
		return errNotJSON.Error()
	case errors.Is(err, errNoChoices):
		return errNoChoices.Error()
	case errors.Is(err, errNoMessage):
		return errNoMessage.Error()
	case errors.Is(err, errStream):
		return errStream.Error()
	case errors.Is(err, errNotStream):
		return errNotStream.Error()
	case errors.As(err, &certificate):
		return general(certificate.Error())
	case errors.As(err, &dns):
		return "looking up the host: " + dns.Err
	case errors.As(err, &timed) && timed.Timeout():
		return "timeout"
	case errors.As(err, &op):
		return op.Op + ": " + general(op.Err.Error())
	}
	return general(err.Error())
}

// varying is a word with a digit in it: a number, an address, an id.
var varying = regexp.MustCompile(`[0-9A-Za-z]*[0-9][0-9A-Za-z]*`)

func general(text string) string { return varying.ReplaceAllString(text, "#") }
