package plan

import (
	"go.yaml.in/yaml/v3"
)

// The file as it is written. A nil pointer, map or list is a key that is left
// out; defaults come later, so that ids can tell them from values. The tags are
// also what Schema is made from.

type planYAML struct {
	Version     *formatVersion `yaml:"version" jsonschema:"required" jsonschema_description:"Version of this format: 1."`
	Name        *string        `yaml:"name" jsonschema:"required" jsonschema_description:"Names the results folder: ASCII letters, digits, dots, _ and -."`
	Description *string        `yaml:"description" jsonschema_description:"What is measured, for people."`
	commonYAML
	BaselineServer     *baselineYAML      `yaml:"baseline_server" jsonschema_description:"The server without speculation that every server is compared with: a URL, a mapping, or none."`
	NumSteps           *count             `yaml:"num_steps" jsonschema_description:"speculative_num_steps of the servers, for engines that do not tell."`
	Servers            serversYAML        `yaml:"servers" jsonschema:"required" jsonschema_description:"The servers with speculation, in the order of the tables."`
	Datasets           []datasetEntryYAML `yaml:"datasets" jsonschema:"minItems=1" jsonschema_description:"Where the prompts come from: names of presets, or mappings. Left out, and datasets_config too: the built-in suite."`
	DatasetsConfig     *string            `yaml:"datasets_config" jsonschema_description:"A file with a datasets: list, instead of datasets."`
	Concurrency        counts             `yaml:"concurrency" jsonschema_description:"Requests in flight; an axis. Default 16."`
	MaxNewTokens       counts             `yaml:"max_new_tokens" jsonschema_description:"Tokens per answer at most; an axis. Default 256."`
	Temperature        temperatures       `yaml:"temperature" jsonschema_description:"Sampling temperature; an axis. Default 0."`
	NumPrompts         promptCounts       `yaml:"num_prompts" jsonschema_description:"Prompts per pass, or 10x for ten per slot of concurrency and at least 64; an axis. Default 64."`
	RequestRate        rates              `yaml:"request_rate" jsonschema_description:"Requests started per second, or inf for a closed loop; an axis. Default inf."`
	Zip                []string           `yaml:"zip" jsonschema:"minItems=2" jsonschema_description:"Axes of equal length that go together, position by position."`
	Exclude            []matchYAML        `yaml:"exclude" jsonschema_description:"Cells to leave out: those that match every key of an entry."`
	Include            []matchYAML        `yaml:"include" jsonschema_description:"Cells to add after exclude; keys left out take the plan's values."`
	TopP               *probability       `yaml:"top_p" jsonschema_description:"Nucleus sampling, always sent. Default 1."`
	TopK               *topK              `yaml:"top_k" jsonschema:"nullable" jsonschema_description:"Sent when set; -1 for no limit."`
	Repeats            *count             `yaml:"repeats" jsonschema_description:"Runs of each cell. Default 1."`
	Order              *string            `yaml:"order" jsonschema:"enum=by_block,enum=by_server" jsonschema_description:"Order of passes. Default by_block."`
	WarmupPrompts      *warmup            `yaml:"warmup_prompts" jsonschema_description:"Requests that warm a server up before its first pass at a concurrency; 0 for none. Default auto: two per slot of concurrency."`
	PrefixCache        *string            `yaml:"prefix_cache" jsonschema:"enum=cold,enum=as_is" jsonschema_description:"cold: no pass finds prompts of an earlier one in the server's prefix cache. Default cold."`
	Strict             *truth             `yaml:"strict" jsonschema_description:"A fairness guard that fires makes the run an error that keeps its numbers. Default false."`
	Thresholds         []thresholdYAML    `yaml:"thresholds" jsonschema_description:"Limits that the cells must keep; one that is missed fails the sweep."`
	MinEffect          *effect            `yaml:"min_effect" jsonschema_description:"Relative difference below which two servers are called equal. Default 0.01."`
	Stream             *truth             `yaml:"stream" jsonschema_description:"Answers are streamed, and their latency measured. Default false."`
	SLO                *sloYAML           `yaml:"slo" jsonschema_description:"What a request must keep to count as good."`
	Arrivals           *string            `yaml:"arrivals" jsonschema:"enum=poisson,enum=constant" jsonschema_description:"How requests arrive at a finite request_rate. Default poisson."`
	Seed               *seed              `yaml:"seed" jsonschema_description:"Seed of the arrivals. Default 0."`
	SaveRequests       *truth             `yaml:"save_requests" jsonschema_description:"Keep one line a request beside the rows. Default false."`
	SaveOutputs        *truth             `yaml:"save_outputs" jsonschema_description:"Keep the answers too; implies save_requests. Default false."`
	TimeoutS           *seconds           `yaml:"timeout_s" jsonschema_description:"Seconds for one attempt of one request. Default 600."`
	MaxRetries         *retries           `yaml:"max_retries" jsonschema_description:"Retries of a request. Default 3."`
	AbortAfterFailures *count             `yaml:"abort_after_failures" jsonschema_description:"Failed requests that end a run as an error. Default: never."`
	MaxDurationS       *maxDurationYAML   `yaml:"max_duration_s" jsonschema_description:"Seconds that one pass may take, or a mapping with run and sweep. Default: no bound."`
	ShuffleSeed        *seed              `yaml:"shuffle_seed" jsonschema_description:"Shuffles the rows of every dataset as Hugging Face datasets does with this seed. Default: rows in order."`
	ServerWaitS        *waitSeconds       `yaml:"server_wait_s" jsonschema_description:"Seconds to wait for a server that is not ready; also bounds preflight. Default 600."`
}

// commonYAML is what the plan, a server and a baseline may all say.
type commonYAML struct {
	Engine     *string  `yaml:"engine" jsonschema_description:"Kind of server: vllm, sglang and so on."`
	Model      *string  `yaml:"model" jsonschema_description:"Model to ask for; may be left out when the server lists exactly one."`
	Labels     texts    `yaml:"labels" jsonschema_description:"Free words about the server that stand in every row."`
	Headers    texts    `yaml:"headers" jsonschema_description:"HTTP headers to send; secrets as ${VAR}."`
	APIKeyEnv  *string  `yaml:"api_key_env" jsonschema_description:"Name of the variable that holds the API key."`
	APIKeyFile *string  `yaml:"api_key_file" jsonschema_description:"File that holds the API key."`
	ExtraBody  anything `yaml:"extra_body" jsonschema_description:"More fields of the request's body, sent as they are."`
	Sources    sources  `yaml:"accept_sources" jsonschema_description:"Where acceptance may be read from; left out: the best source that the server offers."`
	Proxy      *string  `yaml:"proxy" jsonschema_description:"URL of the proxy that requests go through, or none. Default none, whatever the environment says."`
}

type serverYAML struct {
	entry  int     // position in the file's list
	For    forYAML `yaml:"for" jsonschema_description:"Makes one server of each value: {k} in the strings of this entry, and in num_steps, is replaced."`
	Name   *string `yaml:"name" jsonschema:"required" jsonschema_description:"Name in tables and ids."`
	Server *string `yaml:"server" jsonschema:"required" jsonschema_description:"Root URL; {port} is a free port when launch starts the server."`
	commonYAML
	BaselineServer *baselineYAML `yaml:"baseline_server" jsonschema_description:"Replaces the plan's: a URL, a mapping, or none."`
	NumSteps       *steps        `yaml:"num_steps" jsonschema_description:"speculative_num_steps, for engines that do not tell."`
	TLS            *tlsYAML      `yaml:"tls" jsonschema_description:"How an https server is trusted."`
	Launch         *launchYAML   `yaml:"launch" jsonschema_description:"How to start the server; left out when it runs already."`
}

// baselineMapYAML is a baseline_server with more than its URL.
type baselineMapYAML struct {
	Server *string `yaml:"server" jsonschema:"required" jsonschema_description:"Root URL; {port} is a free port when launch starts the server."`
	commonYAML
	TLS    *tlsYAML    `yaml:"tls" jsonschema_description:"How an https server is trusted."`
	Launch *launchYAML `yaml:"launch" jsonschema_description:"How to start the server; left out when it runs already."`
}

// baselineYAML is a URL, the word none, or a mapping.
type baselineYAML struct {
	word *string // nil for a mapping
	baselineMapYAML
}

func (b *baselineYAML) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if n.Kind != yaml.ScalarNode {
		fresh, ok := decodeStruct[baselineMapYAML](d, n, path)
		b.baselineMapYAML = fresh
		return ok
	}
	s, ok := d.text(n, path)
	b.word, b.Server = &s, &s
	return ok
}

type launchYAML struct {
	Command       []string `yaml:"command" jsonschema:"required,minItems=1" jsonschema_description:"Program and arguments, started in the plan's folder."`
	Env           texts    `yaml:"env" jsonschema_description:"Variables for the program, beside the environment of specsweep."`
	ReadyTimeoutS *seconds `yaml:"ready_timeout_s" jsonschema_description:"Seconds until it must be ready. Default 900."`
	Restart       *string  `yaml:"restart" jsonschema:"enum=never,enum=per_dataset,enum=per_run" jsonschema_description:"When it is started anew. Default never."`
}

type datasetYAML struct {
	Name                *string      `yaml:"name" jsonschema:"required" jsonschema_description:"Name in tables and ids."`
	InputData           *string      `yaml:"input_data" jsonschema:"required" jsonschema_description:"File or folder with prompts, from the plan's folder, or org/name on the Hugging Face Hub."`
	DatasetName         *string      `yaml:"dataset_name" jsonschema_description:"Configuration of a Hub dataset; may be left out when it has only one."`
	Revision            *string      `yaml:"revision" jsonschema_description:"Branch, tag or commit of a Hub dataset. Default main."`
	Split               *string      `yaml:"split" jsonschema_description:"Split, with or without a slice: train[:100]. Default train."`
	MessagesColumn      *string      `yaml:"messages_column" jsonschema_description:"Column with lists of messages. Default messages."`
	PromptColumn        *string      `yaml:"prompt_column" jsonschema_description:"Column with a prompt, instead of messages_column."`
	PromptContextColumn *string      `yaml:"prompt_context_column" jsonschema_description:"Column that is appended to the prompt after a blank line."`
	Turns               *string      `yaml:"turns" jsonschema:"enum=first,enum=all" jsonschema_description:"What is sent of a list in prompt_column: its first turn, or all of them with the answers between. Default first."`
	CategoryColumn      *string      `yaml:"category_column" jsonschema_description:"Column that is kept with each prompt."`
	MaxNewTokens        *count       `yaml:"max_new_tokens" jsonschema_description:"Replaces the axis for this dataset."`
	NumPrompts          *promptCount `yaml:"num_prompts" jsonschema_description:"Replaces the axis for this dataset."`
	ExtraBody           anything     `yaml:"extra_body" jsonschema_description:"Fields of the request's body for this dataset."`
}

// datasetEntryYAML is an item of datasets: a mapping, or a bare word for a preset.
type datasetEntryYAML struct {
	preset *Preset // nil for a mapping
	datasetYAML
}

// decodeYAML takes a mapping, or a bare word for a preset.
func (y *datasetEntryYAML) decodeYAML(d *decoder, n *yaml.Node, path string) bool {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		fresh, ok := decodeStruct[datasetYAML](d, n, path)
		y.datasetYAML = fresh
		return ok
	}
	word, ok := d.text(n, path)
	if !ok {
		return false
	}
	p, ok := PresetNamed(word)
	if !ok {
		return d.rule(n, path, unknownPreset(word))
	}
	y.preset = &p
	return true
}

// configYAML is the file that datasets_config names.
type configYAML struct {
	Datasets []configDatasetYAML `yaml:"datasets" jsonschema:"required"`
}

type configDatasetYAML struct {
	Name                *string `yaml:"name" jsonschema:"required"`
	InputData           *string `yaml:"input_data" jsonschema:"required"`
	Split               *string `yaml:"split"`
	DatasetName         *string `yaml:"dataset_name"`
	MessagesColumn      *string `yaml:"messages_column"`
	PromptColumn        *string `yaml:"prompt_column"`
	PromptContextColumn *string `yaml:"prompt_context_column"`
	MaxNewTokens        *count  `yaml:"max_new_tokens" jsonschema_description:"Values of the axis."`
}

type matchYAML struct {
	Server       names        `yaml:"server" jsonschema_description:"Names of servers."`
	Dataset      names        `yaml:"dataset" jsonschema_description:"Names of datasets."`
	Concurrency  counts       `yaml:"concurrency" jsonschema_description:"Values of the axis."`
	MaxNewTokens counts       `yaml:"max_new_tokens" jsonschema_description:"Values of the axis."`
	Temperature  temperatures `yaml:"temperature" jsonschema_description:"Values of the axis."`
	NumPrompts   promptCounts `yaml:"num_prompts" jsonschema_description:"Values of the axis."`
	RequestRate  rates        `yaml:"request_rate" jsonschema_description:"Values of the axis."`
}
