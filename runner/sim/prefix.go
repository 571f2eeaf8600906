package sim

import (
	"crypto/sha256"
	"net/http"
)

// cacheBlock is how many tokens the prefix cache holds together: prompts are
// found in it in whole blocks.
const cacheBlock = 16

// cacheKey is a whole prompt with its salt. Real servers find common beginnings of
// different prompts too; here a prompt is cached as a whole or not at all.
type cacheKey [sha256.Size]byte

func (req *chatRequest) cacheKey() cacheKey {
	return sha256.Sum256(append(req.prompt[:], req.CacheSalt...))
}

// lookUp is how many of a prompt's tokens are cached, and caches it from now on. A
// request that declines the cache finds nothing, and leaves its prompt there.
func (s *Server) lookUp(req *chatRequest, tokens int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := req.cacheKey()
	known := s.cached[key]
	s.cached[key] = true
	if !known || req.CachePrompt != nil && !*req.CachePrompt {
		return 0
	}
	return tokens / cacheBlock * cacheBlock
}

// forget empties the prefix cache. It is refused, false, while there are requests.
func (s *Server) forget() bool {
	if !s.counters.idle() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.cached)
	return true
}

// resetPrefixCache is vLLM's route of developer mode: refusal is a 200 as well.
func (s *Server) resetPrefixCache(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"success": s.forget()})
}

// idle tells whether no chat request is in flight.
func (k *counters) idle() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.inFlight == 0
}
