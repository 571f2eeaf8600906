package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/specsweep/specsweep/report"
	"github.com/specsweep/specsweep/runner/result"
)

// mergedFolder is where merge writes, below the folder of the shards.
const mergedFolder = "merged"

func newMergeCmd(e *env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Make one run-set of the shards of a plan",
		Long: `merge reads run-sets of one plan, or folders that hold them as shard-1, shard-2 and so on,
and writes one run-set with the tables of the undivided run. The folders it reads stay as
they are. A run that several of them have counts once: an ok row before one with an error,
then the one that was started later.

What no run-set has is named, on stderr and in manifest.json, and the exit code is 3. Run-sets
of different plans are not merged. Where the shards differ in specsweep's version, the host or
the baseline, the rows say so.`,
		Example: `  specsweep merge results/demo/slurm-4711
  specsweep merge results/demo/slurm-4711/shard-* --out results/demo/all`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MinimumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			_, log, err := tools(cmd, e)
			if err != nil {
				return err
			}
			missing, err := mergeInto(cmd.Context(), e, args, out, log)
			if err != nil {
				return err
			}
			return complete(missing)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder of the new run-set (default: merged, beside the shards)")
	return cmd
}

// mergeInto writes the merged run-set and tells which runs it lacks.
func mergeInto(ctx context.Context, e *env, args []string, out string, log *slog.Logger) (missing []result.MissingRuns, err error) {
	dirs, parent, err := partDirs(args)
	if err != nil {
		return nil, usage(err)
	}
	if out == "" {
		if parent == "" {
			return nil, usage(errors.New("the run-sets lie in different folders: name the new one with --out"))
		}
		out = filepath.Join(parent, mergedFolder)
	}
	if len(dirs) == 0 {
		return nil, usage(fmt.Errorf("%s holds no shards: name run-sets, or the folder that has them as %s1 and so on", args[0], result.ShardPrefix))
	}
	if err := nameLeftOut(args, log); err != nil {
		return nil, usage(err)
	}
	m, err := result.Merge(ctx, dirs)
	if err != nil {
		return nil, mergeError(ctx, err)
	}
	m.Manifest.Command = e.args
	set, err := result.CreateAt(out)
	if err != nil {
		return nil, usage(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, set.Discard())
		}
	}()
	problems, err := m.Write(ctx, set)
	if err != nil {
		return nil, err
	}
	tables := report.NewSet(m.Rows, m.Manifest)
	for _, f := range report.RunSetFiles() {
		if err := set.WriteReport(f.File, func(w io.Writer) error { return report.Write(w, f.Format, tables) }); err != nil {
			return nil, err
		}
	}
	for _, p := range append(slices.Clone(m.Manifest.Notes), problems...) {
		log.Warn("merged with a doubt", "note", p)
	}
	fmt.Fprintf(e.stderr, "merged %d run-sets: %d of %d runs\nresults: %s\n", len(dirs), len(m.Rows), m.Manifest.Runs, set.Dir())
	return m.Manifest.Missing, nil
}

// nameLeftOut has a word about what lies beside the shards of a folder; an earlier merge
// belongs there.
func nameLeftOut(args []string, log *slog.Logger) error {
	for _, dir := range args {
		if _, parent, err := shardsOf(dir); err != nil || !parent {
			continue // a run-set by its own name; partDirs has dealt with the errors
		}
		others, err := result.LeftOut(dir)
		if err != nil {
			return err
		}
		others = slices.DeleteFunc(others, func(name string) bool { return name == mergedFolder })
		more := len(others) - maxMissing
		if more > 0 {
			others = append(others[:maxMissing], fmt.Sprintf("%d more", more))
		}
		if len(others) > 0 {
			log.Warn("not merged", "dir", dir, "names", strings.Join(others, ", "))
		}
	}
	return nil
}

// mergeError is the usage error of run-sets that cannot be merged.
func mergeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return usage(err)
}

// partDirs is the run-sets that arguments stand for, and the folder that they share;
// empty when they share none. One that is named twice is an error.
func partDirs(args []string) (dirs []string, parent string, err error) {
	seen := map[string]bool{}
	for i, arg := range args {
		found, isParent, err := shardsOf(arg)
		if err != nil {
			return nil, "", err
		}
		above := filepath.Dir(filepath.Clean(arg))
		if isParent {
			above = filepath.Clean(arg)
		}
		if i == 0 {
			parent = above
		} else if parent != above {
			parent = ""
		}
		for _, dir := range found {
			key, err := filepath.Abs(dir)
			if err != nil {
				return nil, "", fmt.Errorf("finding %s: %w", dir, err)
			}
			if seen[key] {
				return nil, "", fmt.Errorf("%s is named twice", dir)
			}
			seen[key] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs, parent, nil
}

// shardsOf is the run-sets of a folder: itself, or the shards that it is the parent of.
func shardsOf(dir string) (dirs []string, parent bool, err error) {
	for _, name := range []string{result.ManifestFile, result.RowsFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return []string{dir}, false, nil
		}
	}
	if dirs, err = result.ShardDirs(dir); err != nil {
		return nil, false, err
	}
	if len(dirs) == 0 {
		return []string{dir}, false, nil // whoever reads it says that it is no run-set
	}
	return dirs, true, nil
}

// complete is the error of a merge that lacks runs.
func complete(missing []result.MissingRuns) error {
	if len(missing) == 0 {
		return nil
	}
	runs := 0
	var lines []string
	for _, s := range missing {
		runs += s.Runs
		line := fmt.Sprintf("  server %s: ", s.Server)
		switch {
		case len(s.RunIDs) == 0 && s.Shard > 0:
			line += fmt.Sprintf("all %d runs, of shard %d, which has left no run-set", s.Runs, s.Shard)
		case len(s.RunIDs) > maxMissing:
			line += fmt.Sprintf("%s and %d more", strings.Join(s.RunIDs[:maxMissing], ", "), len(s.RunIDs)-maxMissing)
		default:
			line += strings.Join(s.RunIDs, ", ")
		}
		lines = append(lines, line)
	}
	return &codeError{exitSomeFailed, fmt.Errorf("%d runs are missing:\n%s\nmake them with run --shard i/n --resume auto into the same --out, and merge again",
		runs, strings.Join(lines, "\n"))}
}

// maxMissing bounds the run_ids of one server on the screen; the manifest has all.
const maxMissing = 8
