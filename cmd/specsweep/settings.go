package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// settings are about the machine, not the measurement. They come from, each
// winning over the one before: defaults, specsweep.yaml (of the working folder,
// else of the user's config folder), SPECSWEEP_* variables, flags.
type settings struct {
	ResultsDir string `mapstructure:"results_dir"`
	LogLevel   string `mapstructure:"log_level"`  // debug, info, warning, error
	LogFormat  string `mapstructure:"log_format"` // text, json
	Color      string `mapstructure:"color"`      // auto, always, never
	Progress   string `mapstructure:"progress"`   // auto, lines, none

	// Empty ones leave it to the variables of the Hub's own tools: HF_ENDPOINT and so
	// on.
	HFEndpoint string `mapstructure:"hf_endpoint"`
	HFToken    string `mapstructure:"hf_token"` // secret
	HFCache    string `mapstructure:"hf_cache"`
}

var settingsHelp = map[string]string{
	"results_dir": "folder that run-sets are written to",
	"log_level":   "debug, info, warning or error",
	"log_format":  "text or json",
	"color":       "auto, always or never",
	"progress":    "auto (a bar on a terminal, else a line a run), lines or none",
	"hf_endpoint": "URL of the Hugging Face Hub (default $HF_ENDPOINT, else https://huggingface.co)",
	"hf_cache":    "folder of the Hub's cache (default $HF_HUB_CACHE, else $HF_HOME/hub)",
}

func settingsDefaults() map[string]string {
	return map[string]string{
		"results_dir": "results", "log_level": "info", "log_format": "text",
		"color": "auto", "progress": "auto",
		"hf_endpoint": "", "hf_token": "", "hf_cache": "",
	}
}

// addSettingsFlags gives every setting a flag with dashes for underscores, except
// the token: a command line is seen by every user of the machine, and recorded.
func addSettingsFlags(fs *pflag.FlagSet) {
	defaults := settingsDefaults()
	keys := make([]string, 0, len(defaults))
	for k := range defaults {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if k == "hf_token" {
			continue
		}
		fs.String(flagName(k), defaults[k], settingsHelp[k])
	}
	fs.BoolP("quiet", "q", false, "no progress, and of the log only warnings and errors unless --log-level says otherwise")
}

func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// loadSettings reads them once. Its viper is not kept: no other part of the
// program can ask it anything.
func loadSettings(fs *pflag.FlagSet) (settings, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	file := settingsFile()
	if file != "" {
		v.SetConfigFile(file)
	}
	v.SetEnvPrefix("SPECSWEEP")
	for key, value := range settingsDefaults() {
		v.SetDefault(key, value)
		err := v.BindEnv(key)
		if flag := fs.Lookup(flagName(key)); flag != nil {
			err = errors.Join(err, v.BindPFlag(key, flag))
		}
		if err != nil {
			return settings{}, fmt.Errorf("binding setting %s: %w", key, err)
		}
	}
	if file != "" {
		if err := v.ReadInConfig(); err != nil {
			return settings{}, fmt.Errorf("reading settings %s: %w", file, err)
		}
	}
	for _, key := range v.AllKeys() {
		if !slices.Contains(sortedSettings(), key) {
			return settings{}, fmt.Errorf("settings %s: unknown setting %s (have %s)", v.ConfigFileUsed(), key, strings.Join(sortedSettings(), ", "))
		}
	}
	var s settings
	if err := v.UnmarshalExact(&s); err != nil {
		return settings{}, fmt.Errorf("settings %s: %w", v.ConfigFileUsed(), err)
	}
	if quiet, err := fs.GetBool("quiet"); err == nil && quiet {
		s.Progress = "none"
		level, err := logLevel(s.LogLevel)
		if err == nil && level < slog.LevelWarn && !fs.Changed(flagName("log_level")) {
			s.LogLevel = "warning"
		}
	}
	return s, s.check()
}

func sortedSettings() []string {
	var keys []string
	for k := range settingsDefaults() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// check refuses words that no setting has.
func (s settings) check() error {
	for _, c := range []struct {
		key, value string
		have       []string
	}{
		{"log_format", s.LogFormat, []string{"text", "json"}},
		{"color", s.Color, []string{"auto", "always", "never"}},
		{"progress", s.Progress, []string{"auto", "lines", "none"}},
	} {
		if !slices.Contains(c.have, c.value) {
			return fmt.Errorf("setting %s: unknown value %q (have %s)", c.key, c.value, strings.Join(c.have, ", "))
		}
	}
	if _, err := logLevel(s.LogLevel); err != nil {
		return err
	}
	return nil
}

// coloured tells whether a stream gets colours.
func (s settings) coloured(tty bool, lookup func(string) (string, bool)) bool {
	if _, no := lookup("NO_COLOR"); no && s.Color == "auto" {
		return false
	}
	return s.Color == "always" || s.Color == "auto" && tty
}

// unknownVariables are those that look like a setting and are none: a typo there
// would otherwise go unnoticed.
func unknownVariables(environ []string) []string {
	var unknown []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		key, ok := strings.CutPrefix(name, "SPECSWEEP_")
		if ok && !slices.Contains(sortedSettings(), strings.ToLower(key)) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// settingsFile is the first settings file that is there; empty: none. viper's own
// search would also take a file without the ending, such as a binary that was
// built into the working folder.
func settingsFile() string {
	files := []string{"specsweep.yaml"}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "specsweep", "specsweep.yaml"))
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && !info.IsDir() {
			return f
		}
	}
	return ""
}
