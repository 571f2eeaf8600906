package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash names a list of prompts: the first 16 hex digits of the SHA-256 over each
// prompt's messages as canonical JSON, one per line, each line ended by \n.
// Canonical is without insignificant blanks, keys sorted, strings escaped no more
// than JSON asks for and numbers as they are spelled, with a line of + and the
// message for each of its further turns, so that neither the order
// of a message's keys nor the file's format shows. The prompts' order is in it,
// the rows they come from are not.
func Hash(prompts []Prompt) string {
	h := sha256.New()
	for _, p := range prompts {
		h.Write(canonical(p.Messages)) // a hash never returns an error
		for _, turn := range p.Next {
			h.Write(append([]byte{'+'}, canonical(turn)...)) // JSON begins with no +
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// canonical is the line of one prompt. What is no JSON, which Load never gives,
// stands for itself.
func canonical(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return append(bytes.Clone(raw), '\n')
	}
	line, err := marshal(v)
	if err != nil {
		return append(bytes.Clone(raw), '\n')
	}
	return append(line, '\n')
}

// marshal is json.Marshal without the escapes that are for HTML only.
func marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
