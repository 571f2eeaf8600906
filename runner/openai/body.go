package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Set adds a field to Extra, or replaces it. Bodies that were copied from b before
// keep theirs: Extra may belong to a plan.
func (b *Body) Set(name string, value any) {
	extra := maps.Clone(b.Extra)
	if extra == nil {
		extra = map[string]any{}
	}
	extra[name] = value
	b.Extra = extra
}

// Encode is the request's JSON with these messages, a JSON list, which goes out
// byte for byte. Fields stand in a fixed order: model, messages, max_tokens,
// temperature, top_p, then top_k when set, then stream and stream_options when a
// stream is asked for, then Extra by name. It fails for messages that are not JSON,
// for values that JSON cannot hold and for an Extra that names a field twice.
func (b Body) Encode(messages json.RawMessage) ([]byte, error) {
	if !json.Valid(messages) {
		return nil, errors.New("the messages are not JSON")
	}
	fields := []field{
		{"model", b.Model}, {"messages", verbatim(messages)}, {"max_tokens", b.MaxTokens},
		{"temperature", b.Temperature}, {"top_p", b.TopP},
	}
	if b.TopK != nil {
		fields = append(fields, field{"top_k", *b.TopK})
	}
	if b.Stream {
		fields = append(fields, field{"stream", true}, field{"stream_options", verbatim(`{"include_usage":true}`)})
	}
	own := len(fields)
	for _, name := range slices.Sorted(maps.Keys(b.Extra)) {
		if slices.ContainsFunc(fields[:own], func(f field) bool { return f.name == name }) {
			return nil, fmt.Errorf("extra field %s is one that the request has already", name)
		}
		fields = append(fields, field{name, b.Extra[name]})
	}

	var w bytes.Buffer
	w.Grow(len(messages) + 256)
	for i, f := range fields {
		w.WriteByte("{,"[min(i, 1)])
		if err := f.write(&w); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	w.WriteByte('}')
	return w.Bytes(), nil
}

type field struct {
	name  string
	value any
}

// verbatim is JSON that is written as it is. An encoder would compact it, and
// prompts are to be sent as they were read.
type verbatim json.RawMessage

// write appends `"name":value`.
func (f field) write(w *bytes.Buffer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f.name); err != nil {
		return err
	}
	w.Truncate(w.Len() - 1) // the encoder's line break
	w.WriteByte(':')
	if raw, ok := f.value.(verbatim); ok {
		w.Write(raw)
		return nil
	}
	if err := enc.Encode(f.value); err != nil {
		return err
	}
	w.Truncate(w.Len() - 1)
	return nil
}

// asksStream tells a request's body whose top level says stream.
func asksStream(body []byte) bool {
	asks := false
	m := membersOf(body)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		if string(key) == `"stream"` {
			asks = string(value) == "true"
		}
	}
	return asks
}
