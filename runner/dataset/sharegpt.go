package dataset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxSpeaker is how many characters of an unknown speaker's name a reason shows.
const maxSpeaker = 24

// shareGPT reads a turn as ShareGPT's data spells it, {"from": …, "value": …}:
// the speaker becomes the role and the value, or else the content, the content: a
// text, or a list of parts. Its other fields are
// about the web page the turn was taken from and are not sent.
func shareGPT(fields map[string]json.RawMessage) (m message, skip string) {
	speaker, ok := stringOf(fields["from"])
	if !ok {
		return message{}, skipNoRole
	}
	role, ok := speakerRole(speaker)
	if !ok {
		if r := []rune(speaker); len(r) > maxSpeaker {
			speaker = string(r[:maxSpeaker]) + "…"
		}
		return message{}, fmt.Sprintf("unknown speaker %q", speaker)
	}
	content := fields["value"]
	if isNull(content) {
		content = fields["content"]
	}
	if isNull(content) {
		return message{role: role, empty: true}, ""
	}
	raw := slices.Concat([]byte(`{"role":"`+role+`","content":`), content, []byte(`}`))
	return message{role: role, raw: raw}, ""
}

// speakerRole is the chat role of a speaker. A function call is the assistant's
// turn, what the function answers the tool's.
func speakerRole(speaker string) (role string, ok bool) {
	switch strings.ToLower(speaker) {
	case "human", "user":
		return roleUser, true
	case "gpt", "chatgpt", "bing", "bard", "assistant", "model", "function_call", "tool_call":
		return roleAssistant, true
	case "system":
		return roleSystem, true
	case "tool", "function", "function_response", "tool_response", "observation":
		return roleTool, true
	}
	return "", false
}
