package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Shard is one part of a plan that is divided over machines: part Index, from 1, of Of.
type Shard struct {
	Index, Of int
}

// ParseShard reads i/n, as in 2/8: the second of eight.
func ParseShard(text string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil {
		return Shard{}, fmt.Errorf("%q is no shard: write i/n, counted from 1, as in 2/8 for the second of eight", text)
	}
	s := Shard{index, of}
	return s, s.Check()
}

// Check refuses a shard that no division has.
func (s Shard) Check() error {
	switch {
	case s.Of < 1:
		return fmt.Errorf("shard %s: there must be at least one shard", s)
	case s.Index < 1 || s.Index > s.Of:
		return fmt.Errorf("shard %s: shards count from 1 to %d", s, s.Of)
	}
	return nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Runs is the runs that the shard makes, as they are: indices and ids stay.
func (s Shard) Runs(runs []Run) []Run {
	shards := Deal(runs, s.Of)
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return shards[r.Server.Name] != s.Index })
}

// Deal says which of n shards, from 1, makes the runs of each server. All runs of a
// server are in one shard, since two shards would load it at the same time. The servers
// with the most requests are dealt first, each to the shard that has the fewest; ties
// go by the order of the runs, so that every machine deals alike. With more shards than
// servers the last shards get none. Passes over baselines are not weighed: every shard
// that needs one measures its own.
func Deal(runs []Run, n int) map[string]int {
	type load struct {
		server   string
		requests int
	}
	var servers []load
	at := map[string]int{}
	for i := range runs {
		name := runs[i].Server.Name
		j, ok := at[name]
		if !ok {
			j = len(servers)
			at[name] = j
			servers = append(servers, load{server: name})
		}
		servers[j].requests += runs[i].NumPrompts
	}
	slices.SortStableFunc(servers, func(a, b load) int { return cmp.Compare(b.requests, a.requests) })
	sums, dealt := make([]int, min(n, len(servers))), map[string]int{}
	for _, s := range servers {
		least := 0
		for i := range sums {
			if sums[i] < sums[least] {
				least = i
			}
		}
		sums[least] += s.requests
		dealt[s.server] = least + 1
	}
	return dealt
}

// Shardable tells why runs cannot be divided over machines: an address that the runs
// of two servers reach would be loaded by two shards at once, and each would measure
// the other. Addresses with {port} on this machine are each process's own.
func Shardable(runs []Run) error {
	var errs []error
	users := map[string][]*Server{} // by address, in the order of the runs
	var order []string
	note := func(s *Server, e *Endpoint) {
		key, own := address(e.URL)
		if own && e.Launch != nil || slices.Contains(users[key], s) {
			return
		}
		if users[key] == nil {
			order = append(order, key)
		}
		users[key] = append(users[key], s)
	}
	for i := range runs {
		s := runs[i].Server
		note(s, &s.Endpoint)
		if s.Baseline != nil {
			note(s, s.Baseline)
		}
	}
	for _, key := range order {
		if len(users[key]) > 1 {
			errs = append(errs, conflict(key, users[key]))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("the plan cannot be divided into shards:\n%w", errors.Join(errs...))
}

// maxNamed bounds the servers that an error names.
const maxNamed = 3

func conflict(key string, users []*Server) error {
	var names []string
	for _, s := range users[:min(len(users), maxNamed)] {
		names = append(names, s.Name)
	}
	who := strings.Join(names, ", ")
	if more := len(users) - len(names); more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	what, launched := "server", false
	for _, s := range users {
		e := &s.Endpoint
		if k, _ := address(e.URL); k != key {
			e, what = s.Baseline, "baseline_server"
		}
		launched = launched || e.Launch != nil
	}
	fix := "launch it on each machine (launch, and a URL of http://127.0.0.1:{port}), or give each server one of its own"
	if launched {
		fix = "let each process start it on a port of its own: http://127.0.0.1:{port}"
	}
	return fmt.Errorf("%s at %s is reached by %s: two shards would load it at the same time and measure each other; %s", what, key, who, fix)
}

// address is host and port of a URL, one form for all of this machine's names, and
// whether each process has its own.
func address(raw string) (key string, own bool) {
	const port = "{port}"
	held := strings.Contains(raw, port)
	// {port} is no port to net/url; any number will do while the host is read.
	u, err := url.Parse(strings.ReplaceAll(raw, port, "1"))
	if err != nil {
		return raw, false
	}
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	local := host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
	if local {
		host = "localhost"
	}
	number := u.Port()
	switch {
	case held:
		number = port
	case number == "" && u.Scheme == "https":
		number = "443"
	case number == "":
		number = "80"
	}
	return net.JoinHostPort(host, number), held && local
}
