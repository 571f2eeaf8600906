package plan

import "maps"

// WithLabels is a copy of the plan in which expand has been applied to the value of
// every label. Ids stay as they are, since labels are in none. The plan itself is not changed.
func (p *Plan) WithLabels(expand func(string) string) *Plan {
	labels := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		for name, value := range m {
			m[name] = expand(value)
		}
		return m
	}
	out := *p
	out.Labels = labels(p.Labels)
	out.Servers = make([]Server, len(p.Servers))
	servers, baselines := map[*Server]*Server{}, map[*Endpoint]*Endpoint{}
	for i := range p.Servers {
		s := p.Servers[i]
		s.Labels = labels(s.Labels)
		if b := s.Baseline; b != nil {
			if baselines[b] == nil {
				own := *b
				own.Labels = labels(b.Labels)
				baselines[b] = &own // still one that several servers share
			}
			s.Baseline = baselines[b]
		}
		out.Servers[i] = s
		servers[&p.Servers[i]] = &out.Servers[i]
	}
	out.cells = make([]Run, len(p.cells))
	for i, cell := range p.cells {
		cell.Server = servers[cell.Server]
		out.cells[i] = cell
	}
	return &out
}
