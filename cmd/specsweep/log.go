package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/lmittmann/tint"
)

// newLogger writes to stderr: stdout is for results.
func newLogger(w io.Writer, s settings, coloured bool) (*slog.Logger, error) {
	level, err := logLevel(s.LogLevel)
	if err != nil {
		return nil, err
	}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: cleanAttr})), nil
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: level, NoColor: !coloured, TimeFormat: time.TimeOnly, ReplaceAttr: cleanAttr,
	})), nil
}

// cleanAttr keeps terminal escapes out of messages and values. The text handler lets
// those of values through when it colours, the JSON handler the ones beyond ASCII.
func cleanAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		return slog.String(a.Key, clean(v))
	case error:
		return slog.String(a.Key, clean(v.Error()))
	case []string:
		return slog.String(a.Key, clean(strings.Join(v, " ")))
	}
	return a
}

// logLevel knows slog's names and Python's, which the scripts' users write.
func logLevel(name string) (slog.Level, error) {
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn", "warning":
		return slog.LevelWarn, nil
	case "error", "critical":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("setting log_level: unknown value %q (have debug, info, warning, error)", name)
}
