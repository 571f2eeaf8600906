package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// datasets builds the datasets from the plan or from the file it names.
func (l *loader) datasets() {
	inPlan, inFile := l.doc.has("datasets"), l.doc.has("datasets_config")
	switch {
	case inPlan && inFile:
		l.doc.add("datasets_config", "give one of datasets and datasets_config")
	case !inPlan && !inFile:
		l.doc.add("datasets", "required, or datasets_config")
	case inFile && l.file.DatasetsConfig != nil:
		l.readConfig(*l.file.DatasetsConfig)
		return
	case inPlan && l.file.Datasets != nil && len(l.file.Datasets) == 0:
		l.doc.add("datasets", "an empty list: give at least one dataset")
	}
	first := map[string]string{}
	for i := range l.file.Datasets {
		l.dataset(l.doc, item("datasets", i), l.raw.Datasets[i], l.file.Datasets[i], first)
	}
}

// dataset checks one entry and appends it.
func (l *loader) dataset(doc *document, at string, raw, y datasetYAML, first map[string]string) {
	checkName(doc, at+".name", y.Name, first)
	d := Dataset{
		Name: valueOr(y.Name, ""), Split: valueOr(y.Split, defaultSplit), PromptColumn: valueOr(y.PromptColumn, ""),
		MessagesColumn: valueOr(y.MessagesColumn, ""), PromptContextColumn: valueOr(y.PromptContextColumn, ""),
		MaxNewTokens: intPointer(y.MaxNewTokens), NumPrompts: (*NumPrompts)(y.NumPrompts), ExtraBody: y.ExtraBody,
	}
	for key, value := range map[string]*string{
		"split": y.Split, "messages_column": y.MessagesColumn, "prompt_column": y.PromptColumn, "prompt_context_column": y.PromptContextColumn,
	} {
		if value != nil && strings.TrimSpace(*value) == "" {
			doc.add(at+"."+key, "must not be empty: leave the key out")
		}
	}
	switch {
	case y.MessagesColumn != nil && y.PromptColumn != nil:
		doc.add(at+".messages_column", "give one of messages_column and prompt_column")
	case y.PromptContextColumn != nil && y.PromptColumn == nil && !doc.has(at+".prompt_column"):
		doc.add(at+".prompt_context_column", "goes with prompt_column only")
	case y.MessagesColumn == nil && y.PromptColumn == nil:
		d.MessagesColumn = defaultMessagesColumn
	}
	l.reserved(doc, at+".extra_body", y.ExtraBody)
	if y.InputData != nil {
		d.InputData = l.path(*y.InputData)
		if problem := checkInput(*y.InputData, d.InputData); problem != "" {
			doc.add(at+".input_data", "%s", problem)
		}
	}
	l.plan.Datasets = append(l.plan.Datasets, d)
	l.datasetIDs = append(l.datasetIDs, identify(raw))
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
	set("split", raw.Split, defaultSplit)
	set("messages_column", raw.MessagesColumn, defaultMessagesColumn)
	set("prompt_column", raw.PromptColumn, "")
	set("prompt_context_column", raw.PromptContextColumn, "")
	return id
}

// fileEnding tells data/chat.jsonl from org/chat; Llama-3.1 has none.
var fileEnding = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]*$`)

// checkInput says what is wrong with input_data, which lies at path.
func checkInput(name, path string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "must not be empty"
	case strings.HasPrefix(name, "~"):
		return "~ is not expanded: write ${HOME} or the whole path"
	}
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrNotExist) && looksLikeHubID(name):
		return fmt.Sprintf("Hub datasets are not available yet: give a local file or folder (%s does not exist)", path)
	}
	return statProblem(path, err)
}

// looksLikeHubID reports whether a name that is no file may be meant as owner/name.
func looksLikeHubID(name string) bool {
	local := strings.HasPrefix(name, ".") || filepath.IsAbs(name) || fileEnding.MatchString(name)
	parts := strings.Split(name, "/")
	for _, part := range parts {
		local = local || part == ""
	}
	return !local && len(parts) > 1
}

func statProblem(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or folder: " + path
	}
	return err.Error()
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
		if y.DatasetName != nil {
			l.config.add(at+".dataset_name", "names a configuration of a Hub dataset, and those are not available yet: give a local file as input_data")
		}
		if !l.config.has(at+".messages_column") && !l.config.has(at+".prompt_column") {
			l.config.add(at, "give one of messages_column and prompt_column")
		}
		l.dataset(l.config, at, raw.Datasets[i].dataset(), y.dataset(), first)
	}
}

func (y configDatasetYAML) dataset() datasetYAML {
	return datasetYAML{
		Name: y.Name, InputData: y.InputData, Split: y.Split, MessagesColumn: y.MessagesColumn,
		PromptColumn: y.PromptColumn, PromptContextColumn: y.PromptContextColumn, MaxNewTokens: y.MaxNewTokens,
	}
}
