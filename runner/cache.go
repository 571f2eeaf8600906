package runner

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/specsweep/specsweep/plan"
	"github.com/specsweep/specsweep/runner/engine"
	"github.com/specsweep/specsweep/runner/load"
	"github.com/specsweep/specsweep/runner/openai"
)

// cacheSlack is how much a pass's share of prompt tokens from the prefix cache may
// lie above another's before it counts as warmer.
const cacheSlack = 0.01

// cacheUse is what a pass found in the server's prefix cache.
type cacheUse struct {
	reset   bool     // the server's cache was emptied just before the pass
	unknown string   // why prefix_cache: cold could not be had; empty: it could, or nobody asked
	share   *float64 // of the prompt tokens that were hits, 0 to 1; nil: not known
	first   *float64 // the same of the first pass over these prompts on this server; nil: this is it
}

// cacheKey names the prompts that a server has seen.
type cacheKey struct{ url, promptSet string }

// chill makes the pass cold where the plan wants it: by a salt of its own in the
// body, else by emptying the server's cache.
func (s *sweep) chill(ctx context.Context, srv *server, b *openai.Body, p *pass) {
	if s.Plan.PrefixCache != plan.PrefixCacheCold {
		return
	}
	taken, salted := salt(srv.engine, b)
	resetter, resets := srv.engine.(engine.Resetter)
	switch {
	case salted && taken == "":
	case resets:
		err := resetter.Reset(ctx, srv.client)
		if p.cache.reset = err == nil; err != nil {
			p.cache.unknown = "the prefix cache could not be emptied: " + err.Error()
		}
	case salted:
		p.cache.unknown = "extra_body sets " + taken + " itself, which keeps passes apart in the prefix cache"
	default:
		p.cache.unknown = "nothing is known that empties the prefix cache of " + srv.engine.Name()
	}
}

// salt puts a salt that nobody has used before into the body. Fields of the plan's
// own win: taken names those that would have been replaced.
func salt(e engine.Engine, b *openai.Body) (taken string, salted bool) {
	salter, ok := e.(engine.Salter)
	if !ok {
		return "", false
	}
	own := maps.Clone(b.Extra)
	salter.Salt(b, rand.Text())
	var names []string
	for name, v := range own {
		if !reflect.DeepEqual(b.Extra[name], v) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		b.Extra = own
	}
	slices.Sort(names)
	return strings.Join(names, ", "), true
}

// cacheCounts is nil where the engine does not count, or could not be asked: that
// alone is no reason to doubt anything.
func (srv *server) cacheCounts(ctx context.Context) *engine.CacheCounts {
	counter, ok := srv.engine.(engine.CacheCounter)
	if !ok {
		return nil
	}
	c, err := counter.CacheCounts(ctx, srv.client)
	if err != nil {
		srv.log.Debug("the counters of the prefix cache could not be read", "error", err)
		return nil
	}
	return &c
}

// warmth notes how warm the pass was, and how warm the first one was.
func (s *sweep) warmth(srv *server, p *pass, before, after *engine.CacheCounts) {
	p.cache.share = hitShare(before, after, &p.load)
	if p.cache.share == nil {
		return
	}
	key := cacheKey{srv.client.URL(), p.prompts.hash}
	if first, ok := s.firstShare[key]; ok {
		p.cache.first = &first
	} else {
		s.firstShare[key] = *p.cache.share
	}
}

// hitShare is hits / queried over the pass. Where the server's counters cannot be
// had it is cached / prompt tokens of the answers' usage. A counter that fell gives
// nothing: the server has restarted.
func hitShare(before, after *engine.CacheCounts, l *load.Pass) *float64 {
	if before != nil && after != nil {
		queried, hits := after.Queried-before.Queried, after.Hits-before.Hits
		if queried <= 0 || hits < 0 {
			return nil
		}
		return ptr(float64(hits) / float64(queried))
	}
	if l.CachedTokens == nil || l.PromptTokens <= 0 {
		return nil
	}
	return ptr(float64(*l.CachedTokens) / float64(l.PromptTokens))
}

// warmer says how a pass profited from an earlier one; empty: not by more than
// cacheSlack, or not known. other is the paired pass, or nil.
func warmer(p, other *pass, otherName string) string {
	share := p.cache.share
	if share == nil {
		return ""
	}
	above := func(than *float64, what string) string {
		if than == nil || *share-*than <= cacheSlack {
			return ""
		}
		return fmt.Sprintf("%.0f %% of the prompt tokens came from the prefix cache, %.0f %% in %s", 100**share, 100**than, what)
	}
	if text := above(p.cache.first, "the first pass over the same prompts"); text != "" {
		return text
	}
	if other == nil || other.prompts.hash != p.prompts.hash {
		return ""
	}
	return above(other.cache.share, otherName)
}
