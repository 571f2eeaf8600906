package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/dataset/hub"
)

// hubFile is a file of a dataset on the Hub.
type hubFile struct {
	client  *hub.Client
	listing hub.Listing
	file    hub.File
}

var _ origin = hubFile{}

func (h hubFile) open(ctx context.Context) (*content, error) {
	r, err := h.client.Open(ctx, h.listing, h.file)
	if err != nil {
		return nil, fmt.Errorf("reading prompts: %w", err)
	}
	return &content{ReaderAt: r, size: r.Size(), close: r.Close}, nil
}

func (h hubFile) fetch(ctx context.Context) (string, error) {
	path, err := h.client.Fetch(ctx, h.listing, h.file)
	if err != nil {
		return "", fmt.Errorf("reading prompts: %w", err)
	}
	return path, nil
}

// openHub lists the files of the dataset's splits. They are of one commit, which
// the source names.
func openHub(ctx context.Context, client *hub.Client, d *plan.Dataset, split Split) (*source, error) {
	if client == nil {
		return nil, fmt.Errorf("reading prompts: %s is a dataset on the Hub, which is not to be used here: download it and name its files", d.InputData)
	}
	s := &source{path: d.InputData, files: map[string][]file{}}
	for _, part := range split {
		if _, ok := s.files[part.Name]; ok {
			continue
		}
		l, err := client.List(ctx, hub.Query{ID: d.InputData, Config: d.DatasetName, Split: part.Name, Revision: d.Revision})
		if err != nil {
			return nil, fmt.Errorf("reading prompts: %w", bothReadings(d, err))
		}
		if s.revision != "" && s.revision != l.Revision {
			return nil, fmt.Errorf("reading prompts: %s went from commit %s to %s meanwhile: try again, or set revision to one of them",
				d.InputData, s.revision, l.Revision)
		}
		s.revision = l.Revision
		for _, w := range l.Warnings {
			if !slices.Contains(s.warnings, w) {
				s.warnings = append(s.warnings, w)
			}
		}
		files, err := hubFiles(client, l)
		if err != nil {
			return nil, err
		}
		s.splits = append(s.splits, part.Name)
		s.files[part.Name] = files
	}
	return s, nil
}

// bothReadings adds to the error of a dataset that was not found that its name may
// have been meant as a path: only because none is there was it taken for an id.
func bothReadings(d *plan.Dataset, err error) error {
	for _, unknown := range []error{hub.ErrNotFound, hub.ErrNoNetwork, hub.ErrOffline} {
		if errors.Is(err, unknown) {
			return fmt.Errorf("%w (no file or folder %s is here either)", err, d.InputData)
		}
	}
	return err
}

func hubFiles(client *hub.Client, l hub.Listing) ([]file, error) {
	var files []file
	for _, h := range l.Files {
		f, err := fileAt(h.Path)
		if err != nil {
			return nil, fmt.Errorf("reading prompts: %s: %w", l.ID, err)
		}
		f.path = l.ID + "/" + h.Path
		f.origin = hubFile{client, l, h}
		files = append(files, f)
	}
	return files, nil
}

// discardBroken removes the cached copies of the source's files that are not what
// the Hub says they are, and says whether there was one: then the set is worth
// another try. It is for a set that could not be read.
func (s *source) discardBroken(ctx context.Context) (bool, error) {
	broken := false
	for _, name := range s.splits {
		for _, f := range s.files[name] {
			h, ok := f.origin.(hubFile)
			if !ok {
				continue
			}
			gone, err := h.client.Discard(ctx, h.listing, h.file)
			if err != nil {
				return broken, err
			}
			broken = broken || gone
		}
	}
	return broken, nil
}

// worthChecking says whether an error may come from a broken copy: not one that
// the Hub's side explains, nor rows of no use, nor an end that was asked for.
func worthChecking(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	for _, known := range []error{ErrNoPrompts, hub.ErrNotFound, hub.ErrRevision, hub.ErrFile, hub.ErrGated, hub.ErrToken,
		hub.ErrNoNetwork, hub.ErrOffline, hub.ErrCorrupt, hub.ErrNoData} {
		if errors.Is(err, known) {
			return false
		}
	}
	return true
}
