package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Natural answer lengths in tokens.
const (
	shortest = 32
	longest  = 288
)

// promptHash identifies a prompt: SHA-256 of its messages as compact JSON.
type promptHash [sha256.Size]byte

func hashPrompt(messages json.RawMessage) promptHash {
	var b bytes.Buffer
	if err := json.Compact(&b, messages); err != nil {
		return sha256.Sum256(messages)
	}
	return sha256.Sum256(b.Bytes())
}

// naturalLength is where the answer to a prompt ends by itself, in tokens. It
// depends on the prompt alone, as a greedy answer does, so that a drafter and its
// baseline give equal counts.
func (p promptHash) naturalLength() int {
	return shortest + int(binary.LittleEndian.Uint64(p[:])%(longest-shortest+1))
}

// answer is a text of n words, one a token, the same for the same prompt.
func (p promptHash) answer(n int) string {
	words := strings.Fields("a drafter writes what it guesses and the target keeps what it would have said itself")
	start := int(p[len(p)-1]) % len(words)
	text := make([]string, n)
	for i := range text {
		text[i] = words[(start+i)%len(words)]
	}
	return strings.Join(text, " ")
}

// promptTokens guesses a prompt's length: four characters a token, and eight
// tokens of chat template.
func promptTokens(messages []json.RawMessage) int {
	chars := 0
	for _, raw := range messages {
		var m struct {
			Content json.RawMessage `json:"content"`
		}
		// What is no object, and content in parts, counts as it is written.
		if json.Unmarshal(raw, &m) != nil {
			m.Content = raw
		}
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content)
		}
		chars += utf8.RuneCountInString(text)
	}
	return chars/4 + 8
}
