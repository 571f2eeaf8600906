package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// maxMessage bounds what is kept of a server's message, in characters.
const maxMessage = 300

// HTTPError is an answer that refuses: a status other than 2xx, or a 200 with an
// error in its body.
type HTTPError struct {
	Status  int
	Message string // the server's, on one line; empty when it gave none
}

func (e *HTTPError) Error() string {
	text := fmt.Sprintf("HTTP %d", e.Status)
	switch {
	case e.Status == http.StatusOK:
		text += " with an error in its body: " + e.Message
	case e.Message != "":
		text += ": " + e.Message
	case http.StatusText(e.Status) != "":
		text += ": " + http.StatusText(e.Status)
	}
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		text += " (a server that wants a key gets it from api_key_env)"
	}
	return text
}

// refusal is the error of an answer that is not a 2xx.
func (c *Client) refusal(resp *http.Response, body []byte) *HTTPError {
	e := &HTTPError{Status: resp.StatusCode, Message: c.clean(message(body))}
	if loc, err := resp.Location(); err == nil && e.Status/100 == 3 {
		e.Message = c.clean(c.redirect(resp.Request.URL, loc))
	}
	return e
}

// redirect says where an answer sends us, and which server the plan should name
// instead, when it is the same path on another one. Nothing follows a redirect: a
// POST would become a GET, or a key go to a host that nobody named.
func (c *Client) redirect(from, to *url.URL) string {
	text := "redirects to " + display(to)
	if to.Scheme != "http" && to.Scheme != "https" {
		return text + ", which is not followed"
	}
	root, ok := strings.CutSuffix(display(to), from.EscapedPath()[len(c.root.EscapedPath()):])
	if !ok {
		return text + ", which is not followed"
	}
	return text + ": put " + root + " into the plan as server"
}

// clean makes a server's text fit for an error: no secret of ours, one line.
func (c *Client) clean(text string) string { return oneLine(c.scrub.Replace(head(text))) }

// head is the part of a text that a message can be made of; error pages may be
// large.
func head[T string | []byte](text T) string { return string(text[:min(len(text), 16<<10)]) }

// message finds the server's own words in the shapes that vLLM, SGLang,
// llama.cpp, FastAPI and gateways use, else takes the whole text.
func message(body []byte) string {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shape) == nil {
		for _, raw := range []json.RawMessage{shape.Error, shape.Message, shape.Detail} {
			if text := words(raw); text != "" {
				return text
			}
		}
	}
	return head(body)
}

// words is the text of a string, of an object's message (FastAPI says msg), or of
// a list of such; any other JSON as it stands.
func words(raw json.RawMessage) string {
	if blank(raw) {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
		Msg     string `json:"msg"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message+object.Msg != "" {
		return object.Message + object.Msg
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		texts := make([]string, 0, len(list))
		for _, one := range list {
			texts = append(texts, words(one))
		}
		return strings.Join(texts, "; ")
	}
	return string(raw)
}

// oneLine is a text that fits into a log line and a table's cell: no control
// characters or line breaks, at most maxMessage characters.
func oneLine(text string) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range strings.ToValidUTF8(head(text), "\uFFFD") {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			gap = n > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			n, gap = n+1, false
		}
		if n >= maxMessage {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
