package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// datasetID is what of a dataset goes into the ids of its cells, as it is
// written; a field that says the default is left out.
type datasetID struct {
	fields    map[string]string
	extraBody map[string]any
}

const (
	defaultSplit          = "train"
	defaultMessagesColumn = "messages"
)

// datasets builds the datasets from the plan, from the file it names, or, where it
// says nothing, from the built-in suite.
func (l *loader) datasets() {
	inPlan, inFile := l.doc.has("datasets"), l.doc.has("datasets_config")
	switch {
	case inPlan && inFile:
		l.doc.add("datasets_config", "give one of datasets and datasets_config")
	case !inPlan && !inFile:
		l.file.Datasets = suite()
		l.raw.Datasets = l.file.Datasets
	case inFile && l.file.DatasetsConfig != nil:
		l.readConfig(*l.file.DatasetsConfig)
		return
	case inPlan && l.file.Datasets != nil && len(l.file.Datasets) == 0:
		l.doc.add("datasets", "an empty list: give at least one dataset")
	}
	first := map[string]string{}
	for i, y := range l.file.Datasets {
		if y.preset != nil {
			l.preset(item("datasets", i), *y.preset, first)
			continue
		}
		l.dataset(l.doc, item("datasets", i), l.raw.Datasets[i].datasetYAML, y.datasetYAML, first)
	}
}

// dataset checks one entry and appends it.
func (l *loader) dataset(doc *document, at string, raw, y datasetYAML, first map[string]string) {
	checkName(doc, at+".name", y.Name, first)
	d := Dataset{
		Name: valueOr(y.Name, ""), Split: valueOr(y.Split, defaultSplit), PromptColumn: valueOr(y.PromptColumn, ""),
		MessagesColumn: valueOr(y.MessagesColumn, ""), PromptContextColumn: valueOr(y.PromptContextColumn, ""),
		DatasetName: valueOr(y.DatasetName, ""), Revision: valueOr(y.Revision, ""), CategoryColumn: valueOr(y.CategoryColumn, ""),
		Turns: Turns(valueOr(y.Turns, string(TurnsFirst))), ShuffleSeed: (*uint64)(l.file.ShuffleSeed),
		MaxNewTokens: intPointer(y.MaxNewTokens), NumPrompts: (*NumPrompts)(y.NumPrompts), ExtraBody: y.ExtraBody,
	}
	for _, f := range []struct {
		key   string
		value *string
	}{
		{"dataset_name", y.DatasetName}, {"revision", y.Revision}, {"split", y.Split}, {"messages_column", y.MessagesColumn},
		{"prompt_column", y.PromptColumn}, {"prompt_context_column", y.PromptContextColumn}, {"category_column", y.CategoryColumn},
	} {
		if f.value != nil && strings.TrimSpace(*f.value) == "" {
			doc.add(at+"."+f.key, "must not be empty: leave the key out")
		}
	}
	columns(doc, at, y, &d)
	l.reserved(doc, at+".extra_body", y.ExtraBody)
	if y.InputData != nil {
		l.input(doc, at, *y.InputData, &d)
	}
	l.plan.Datasets = append(l.plan.Datasets, d)
	l.datasetIDs = append(l.datasetIDs, identify(raw))
}

// columns checks what goes with which column.
func columns(doc *document, at string, y datasetYAML, d *Dataset) {
	switch {
	case y.MessagesColumn != nil && y.PromptColumn != nil:
		doc.add(at+".messages_column", "give one of messages_column and prompt_column")
	case y.PromptContextColumn != nil && y.PromptColumn == nil && !doc.has(at+".prompt_column"):
		doc.add(at+".prompt_context_column", "goes with prompt_column only")
	case y.MessagesColumn == nil && y.PromptColumn == nil:
		d.MessagesColumn = defaultMessagesColumn
	}
	known := []string{string(TurnsFirst), string(TurnsAll)}
	switch {
	case !slices.Contains(known, string(d.Turns)):
		doc.add(at+".turns", "unknown value %q %s", clip(string(d.Turns)), unknown(string(d.Turns), known))
	case d.Turns == TurnsAll && y.PromptColumn == nil && !doc.has(at+".prompt_column"):
		doc.add(at+".turns", "all goes with prompt_column only: a list of messages holds its answers already")
	}
}

func identify(raw datasetYAML) datasetID {
	id := datasetID{fields: map[string]string{}, extraBody: raw.ExtraBody}
	set := func(key string, value *string, fallback string) {
		if value != nil && *value != fallback {
			id.fields[key] = *value
		}
	}
	set("name", raw.Name, "")
	set("input_data", raw.InputData, "")
	set("dataset_name", raw.DatasetName, "")
	set("revision", raw.Revision, "")
	set("split", raw.Split, defaultSplit)
	set("messages_column", raw.MessagesColumn, defaultMessagesColumn)
	set("prompt_column", raw.PromptColumn, "")
	set("prompt_context_column", raw.PromptContextColumn, "")
	set("turns", raw.Turns, string(TurnsFirst))
	set("category_column", raw.CategoryColumn, "")
	return id
}

// readConfig takes the datasets from a file of their own. It is stricter than the
// plan about columns, since the files that it is made for are.
func (l *loader) readConfig(name string) {
	if name == "" {
		l.doc.add("datasets_config", "must not be empty")
		return
	}
	src, err := os.ReadFile(l.path(name))
	if err != nil {
		l.doc.add("datasets_config", "%s", statProblem(l.path(name), err))
		return
	}
	shown := name
	if !filepath.IsAbs(name) {
		shown = filepath.Join(filepath.Dir(l.plan.Path), name)
	}
	l.config = parseDocument(shown, src)
	if l.config.root == nil {
		return
	}
	raw, file := decode[configYAML](l.config, l.opts.LookupEnv)
	if file.Datasets != nil && len(file.Datasets) == 0 {
		l.config.add("datasets", "an empty list: give at least one dataset")
	}
	first := map[string]string{}
	for i, y := range file.Datasets {
		at := item("datasets", i)
		if !l.config.has(at+".messages_column") && !l.config.has(at+".prompt_column") {
			l.config.add(at, "give one of messages_column and prompt_column")
		}
		l.dataset(l.config, at, raw.Datasets[i].dataset(), y.dataset(), first)
	}
}

func (y configDatasetYAML) dataset() datasetYAML {
	return datasetYAML{
		Name: y.Name, InputData: y.InputData, Split: y.Split, DatasetName: y.DatasetName, MessagesColumn: y.MessagesColumn,
		PromptColumn: y.PromptColumn, PromptContextColumn: y.PromptContextColumn, MaxNewTokens: y.MaxNewTokens,
	}
}
