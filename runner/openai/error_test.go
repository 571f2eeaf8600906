package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

func TestMessage(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"OpenAI", `{"error":{"message":"no such model","code":404}}`, "no such model"},
		{"error text", `{"error":"Unauthorized"}`, "Unauthorized"},
		{"SGLang", `{"object":"error","message":"too long","code":400}`, "too long"},
		{"FastAPI", `{"detail":"Not Found"}`, "Not Found"},
		{"FastAPI list", `{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"too big"}]}`, "field required; too big"},
		{"empty error, then a message", `{"error":{},"message":"m"}`, "m"},
		{"unknown object", `{"error":{"code":7}}`, `{"code":7}`},
		{"other JSON", `{"reason":"x"}`, `{"reason":"x"}`},
		{"page", "<html>\r\n<h1>502</h1>\t</html>\n", "<html> <h1>502</h1> </html>"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := oneLine(message([]byte(tt.body))); got != tt.want {
				t.Errorf("message(%q) = %q, want %q", tt.body, got, tt.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"control characters", "\x1b[31mred\x00\u2028\u0085 x\u200b", "[31mred x"},
		{"not UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"just fits", strings.Repeat("é", 300), strings.Repeat("é", 300)},
		{"too long", strings.Repeat("é", 301), strings.Repeat("é", 300) + "…"},
		{"far too long", strings.Repeat("ab\n", 1<<20), strings.Repeat("ab ", 100) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := oneLine(tt.in); got != tt.want {
				t.Errorf("oneLine() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHTTPErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  HTTPError
		want string
	}{
		{HTTPError{404, "The model `x` does not exist."}, "HTTP 404: The model `x` does not exist."},
		{HTTPError{503, ""}, "HTTP 503: Service Unavailable"},
		{HTTPError{599, ""}, "HTTP 599"},
		{HTTPError{200, "boom"}, "HTTP 200 with an error in its body: boom"},
		{HTTPError{401, "Unauthorized"}, "HTTP 401: Unauthorized (a server that wants a key gets it from api_key_env)"},
		{HTTPError{403, ""}, "HTTP 403: Forbidden (a server that wants a key gets it from api_key_env)"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("Error() = %q, want %q", got, tt.want)
		}
	}
}

// Errors that differ only in numbers, ids and addresses are of one kind.
func TestKind(t *testing.T) {
	refused := func(port int) error {
		return &net.OpError{Op: "read", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port}, Err: errors.New("connection reset by peer")}
	}
	for _, tt := range []struct {
		name string
		errs []error
		want string
	}{
		{"none", []error{nil}, ""},
		{"refusals", []error{
			&HTTPError{400, "maximum is 4096 tokens, you asked for 5000 (id cmpl-9f8e7d)"},
			&HTTPError{400, "maximum is 4096 tokens, you asked for 77 (id cmpl-0a1b2c)"},
		}, "HTTP 400: maximum is # tokens, you asked for # (id cmpl-#)"},
		{"wrapped", []error{fmt.Errorf("x: %w", &HTTPError{Status: 500, Message: "boom"})}, "HTTP 500: boom"},
		{"connections", []error{refused(8000), refused(8001)}, "read: connection reset by peer"},
		{"lookup", []error{&net.DNSError{Err: "no such host", Name: "h1"}, &net.DNSError{Err: "no such host", Name: "h2"}}, "looking up the host: no such host"},
		{"ends", []error{fmt.Errorf("a: %w", io.ErrUnexpectedEOF), io.EOF, errHungUp}, "unexpected EOF"},
		{"timeouts", []error{timeout{limit: 1}, timeout{limit: 2}, context.DeadlineExceeded}, "timeout"},
		{"cancelled", []error{fmt.Errorf("POST http://h:1: %w", context.Canceled)}, "context canceled"},
		{"broken JSON", []error{decode([]byte("<1>"), "", oneLine, new(scratch), nil), decode([]byte("{2"), "", oneLine, new(scratch), nil)}, "the answer is not JSON"},
		{"no choices", []error{fmt.Errorf("POST http://h:1: %w", errNoChoices)}, "the answer has no choices"},
		{"streams", []error{fmt.Errorf("POST http://h:1: %w", errStream)}, errStream.Error()},
		{"no streams", []error{fmt.Errorf("POST http://h:1: %w", errNotStream)}, errNotStream.Error()},
		{"others", []error{errors.New("odd 12 at 10.0.0.1:80"), errors.New("odd 7 at 10.0.0.2:81")}, "odd # at #.#.#.#:#"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, err := range tt.errs {
				if got := Kind(err); got != tt.want {
					t.Errorf("Kind(%v) = %q, want %q", err, got, tt.want)
				}
			}
		})
	}
}

// Servers and gateways repeat what they were sent; no secret comes through.
func TestNoSecretsInErrors(t *testing.T) {
	const echo = `Token s3cret-header, key s3cret-key, password s3cret-pass`
	for _, tt := range []struct {
		name   string
		status int
		body   string
	}{
		{"refusal", 403, `{"error":{"message":"` + echo + `"}}`},
		{"page", 502, "<html>" + echo},
		{"at the end of what is kept", 400, strings.Repeat("x", maxMessage-8) + " s3cret-key"},
		{"200 with an error", 200, `{"error":"` + echo + `"}`},
		{"200 that is no JSON", 200, echo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := serve(t, always(tt.status, tt.body))
			c, _ := newClient(t, Options{
				URL: strings.Replace(url, "//", "//user:s3cret-pass@", 1), APIKey: "s3cret-key",
				Headers: map[string]string{"Cookie": "s3cret-cookie", "X-Auth": "Token s3cret-header"},
			})
			_, modelsErr := c.Models(t.Context())
			for _, err := range []error{c.Chat(t.Context(), []byte(request)).Err, modelsErr} {
				if err == nil {
					continue // an error in a 200 is nothing to Models
				}
				if strings.Contains(err.Error(), "s3cret") || strings.Contains(Kind(err), "s3cret") {
					t.Errorf("error = %v, shows a secret", err)
				}
			}
		})
	}
}
