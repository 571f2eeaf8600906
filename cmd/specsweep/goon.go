package main

import (
	"strings"
)

// goOnCommand is the command line that goes on with a run-set: as it was typed, but for
// where it is. A shard is found again below the folder that all shards share.
func goOnCommand(job *sweepJob, dir string) string {
	drop := map[string]bool{"--resume": true, "--out": job.shard == nil}
	where := []string{"--resume", dir}
	if job.shard != nil && job.resume.dir == "" {
		where = []string{"--resume", resumeAuto}
	} else if job.shard != nil {
		drop["--resume"] = false
		where = nil
	}
	words := job.command
	var out []string
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		if !drop[name] {
			out = append(out, shellWord(words[i]))
			continue
		}
		if !joined {
			i++ // its value
		}
	}
	for _, w := range where {
		out = append(out, shellWord(w))
	}
	return strings.Join(out, " ")
}

// shellWord quotes a word for a POSIX shell, where it needs that.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:@+%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
