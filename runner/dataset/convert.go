package dataset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
)

const (
	messagesColumn      = "messages"
	conversationsColumn = "conversations" // the name in ShareGPT's data
)

// Why a row is of no use. Rows are counted by these texts.
const (
	skipBlankPrompt = "blank prompt"
	skipNoText      = "prompt is not a text"
)

// converter turns rows into messages by the columns that a dataset names.
type converter struct {
	messages string // empty: the prompt column
	prompt   *columnWatch
	context  *columnWatch // nil: none
	category *columnWatch // nil: none
	turns    plan.Turns
}

func newConverter(d *plan.Dataset) *converter {
	c := &converter{messages: d.MessagesColumn, turns: d.Turns}
	if d.CategoryColumn != "" {
		c.category = &columnWatch{key: "category_column", name: d.CategoryColumn}
	}
	if d.PromptColumn == "" {
		if c.messages == "" {
			c.messages = messagesColumn
		}
		return c
	}
	c.prompt = &columnWatch{key: "prompt_column", name: d.PromptColumn}
	if d.PromptContextColumn != "" {
		c.context = &columnWatch{key: "prompt_context_column", name: d.PromptContextColumn}
	}
	return c
}

// wants are the columns that convert looks at.
func (c *converter) wants() []string {
	var names []string
	if c.prompt == nil {
		names = c.conversations()
	} else {
		names = append(names, c.prompt.name)
	}
	for _, w := range []*columnWatch{c.context, c.category} {
		if w != nil {
			names = append(names, w.name)
		}
	}
	return names
}

// conversations are the columns that may hold the messages, the first one wins.
func (c *converter) conversations() []string {
	if c.messages == messagesColumn {
		return []string{messagesColumn, conversationsColumn}
	}
	return []string{c.messages}
}

// convert gives the messages that a row asks, or why the row is to be skipped. An
// error means that the dataset is not what its entry says.
func (c *converter) convert(r row) (messages json.RawMessage, skip string, err error) {
	if c.prompt == nil {
		for _, column := range c.conversations() {
			if value, ok := r.columns[column]; ok {
				messages, skip = messagesOf(value)
				return messages, skip, nil
			}
		}
		return nil, "", fmt.Errorf("%s: no column %q%s: set messages_column or prompt_column",
			r.where(), c.messages, listed(" (columns: ", r.names(), ")"))
	}
	c.prompt.look(r)
	if c.context != nil {
		c.context.look(r)
	}
	value, ok := r.columns[c.prompt.name]
	if !ok {
		return nil, fmt.Sprintf("no column %q", c.prompt.name), nil
	}
	text, skip := textOf(value)
	if skip != "" {
		return nil, skip, nil
	}
	if c.context != nil {
		if context, skip := textOf(r.columns[c.context.name]); skip == "" {
			text = joinTexts(text, context)
		}
	}
	return userMessage(text), "", nil
}

// missingPrompt is the error when no row had the prompt column.
func (c *converter) missingPrompt() error { return c.prompt.missing() }

// missingContext is the error when no row had the context column. A mistyped name
// would otherwise give other prompts without a word; an entry whose first rows
// truly have no context says the same without the column.
func (c *converter) missingContext() error { return c.context.missing() }

// missingCategory is the same for the category column.
func (c *converter) missingCategory() error { return c.category.missing() }

// categoryOf is the row's category.
func (c *converter) categoryOf(r row) string {
	if c.category == nil {
		return ""
	}
	c.category.look(r)
	raw := r.columns[c.category.name]
	if text, ok := stringOf(raw); ok {
		return text
	}
	if isNull(raw) {
		return ""
	}
	return string(raw)
}

// columnWatch finds out whether any row has a column. A nil one watches nothing.
type columnWatch struct {
	key, name string // the key of the dataset's entry, the column
	rows      int    // looked at before it was found
	found     bool
	others    map[string]bool // the columns of those rows
	path      string
}

func (w *columnWatch) look(r row) {
	if w.found {
		return
	}
	if _, w.found = r.columns[w.name]; w.found {
		return
	}
	w.rows++
	w.path = r.path
	if w.others == nil {
		w.others = map[string]bool{}
	}
	for _, name := range r.names() {
		w.others[name] = true
	}
}

func (w *columnWatch) missing() error {
	if w == nil || w.found || w.rows == 0 {
		return nil
	}
	columns := slices.Sorted(maps.Keys(w.others))
	return fmt.Errorf("%s: no row has the column %q of %s%s", w.path, w.name, w.key, listed(" (columns: ", columns, ")"))
}

// textOf is the JSON string of a prompt's cell: the cell itself, or the first
// entry where it is a list (MT-Bench keeps all turns in one). The string stays
// encoded as it came, so no character of it can change.
func textOf(cell json.RawMessage) (text json.RawMessage, skip string) {
	var turns []json.RawMessage
	if json.Unmarshal(cell, &turns) == nil && len(turns) > 0 {
		cell = turns[0]
	}
	var value any
	if err := json.Unmarshal(cell, &value); err != nil {
		return nil, skipBlankPrompt // the cell is not there
	}
	switch v := value.(type) {
	case nil:
		return nil, skipBlankPrompt
	case []any:
		if len(v) == 0 {
			return nil, skipBlankPrompt
		}
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, skipBlankPrompt
		}
		return cell, ""
	}
	return nil, skipNoText
}

// joinTexts puts a blank line between two JSON strings.
func joinTexts(a, b json.RawMessage) json.RawMessage {
	return slices.Concat(a[:len(a)-1], []byte(`\n\n`), b[1:])
}

// userMessage is the one message that asks the text, a JSON string.
func userMessage(text json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`[{"role":"user","content":`), text, []byte(`}]`))
}
