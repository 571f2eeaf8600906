package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

const (
	maxModelLen = 32768    // tokens, as /v1/models tells
	maxBody     = 64 << 20 // bytes of a chat request
)

// chatRequest is what of a chat completion request makes a difference here.
type chatRequest struct {
	Model     string            `json:"model"`
	Messages  []json.RawMessage `json:"messages"`
	MaxTokens *int              `json:"max_tokens"`
	IgnoreEOS bool              `json:"ignore_eos"`
	Streamed  bool              `json:"stream"`

	CacheSalt   string `json:"cache_salt"`   // vLLM: kept apart in the prefix cache
	CachePrompt *bool  `json:"cache_prompt"` // llama.cpp: false declines the cache
	asks

	prompt promptHash
	limit  int // MaxTokens, or the context where it is left out
}

// asks is what an answer is to tell beside its text.
type asks struct {
	SpecTokensDetails bool `json:"return_spec_tokens_details"` // SGLang
	MetaInfo          bool `json:"return_meta_info"`           // SGLang

	Stream struct {
		IncludeUsage bool `json:"include_usage"` // else a streamed answer has no usage
	} `json:"stream_options"`
}

// problem is an error answer, before it is put into an engine's shape.
type problem struct {
	status  int
	kind    string
	message string
	param   any // name of the field, or nil
}

// The two kinds of 400: of the schema, and of the values.
const (
	kindSchema = "Bad Request"
	kindValue  = "BadRequestError"
)

func badSchema(param any, format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, kindSchema, "1 validation error:\n  " + fmt.Sprintf(format, args...), param}
}

func badValue(param any, format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, kindValue, fmt.Sprintf(format, args...), param}
}

// readRequest decodes and checks a request for a server of that model, or of any
// where it is empty, in the order in which vLLM finds faults: the schema, the model, the values.
func readRequest(r *http.Request, model string) (chatRequest, *problem) {
	var req chatRequest
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return req, badSchema(nil, "Unsupported Media Type: Only 'application/json' is allowed")
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return req, badSchema(nil, "the request's body cannot be read: %v", err)
	}
	if p := req.decode(body); p != nil {
		return req, p
	}
	if model != "" && req.Model != model {
		return req, &problem{http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist. Valid aliases: %s.", req.Model, model), "model"}
	}
	return req, req.check()
}

func (req *chatRequest) decode(body []byte) *problem {
	err := json.Unmarshal(body, req)
	if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
		loc := "body"
		if t.Field != "" {
			loc += "." + t.Field
		}
		return badSchema(loc, "{'type': 'type_error', 'loc': '%s', 'msg': 'Input should not be a %s'}", loc, t.Value)
	}
	if err != nil {
		loc := "body"
		if s := (*json.SyntaxError)(nil); errors.As(err, &s) {
			loc = fmt.Sprintf("body.%d", s.Offset)
		}
		return badSchema(loc, "{'type': 'json_invalid', 'loc': '%s', 'msg': 'JSON decode error', 'ctx': {'error': %q}}", loc, err)
	}
	if req.Messages == nil {
		return badSchema("body.messages", "{'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required'}")
	}
	var raw struct{ Messages json.RawMessage }
	if err := json.Unmarshal(body, &raw); err != nil {
		return badSchema("body", "%v", err)
	}
	req.prompt = hashPrompt(raw.Messages)
	return nil
}

func (req *chatRequest) check() *problem {
	if len(req.Messages) == 0 {
		return badValue(nil, "messages is empty: at least one message is needed")
	}
	req.limit = maxModelLen
	if req.MaxTokens != nil {
		req.limit = *req.MaxTokens
	}
	switch {
	case req.limit < 1:
		return badValue("max_tokens", "max_tokens must be at least 1, got %d. (parameter=max_tokens, value=%d)", req.limit, req.limit)
	case req.limit > maxModelLen:
		return badValue("max_tokens", "max_tokens=%d cannot be greater than max_model_len=%d. (parameter=max_tokens, value=%d)", req.limit, maxModelLen, req.limit)
	}
	return nil
}
