package sim

import "net/http"

// dialect is what one kind of server does in its own way.
type dialect interface {
	// version is the one that is simulated when Config names none.
	version() string
	// open tells whether a path can be asked for without the API key.
	open(path string) bool
	// routes are those beside chat completions, /v1/models and /health.
	routes(s *Server) []route
	// completion and refusal give the JSON of an answer and of an error.
	completion(c Config, a completion) any
	refusal(p *problem) any
	// streaming is the forms of an answer's chunks; a is not generated yet.
	streaming(c Config, a completion) streaming
}

// dialects is the list of simulated engines.
func dialects() map[string]dialect {
	return map[string]dialect{"vllm": vllm{}, "sglang": sglang{}, "llamacpp": llamacpp{}}
}

// route is one method of one path.
type route struct {
	method, path string
	handle       http.HandlerFunc
}
