package table

// latencyShown is the columns of the latency table, the baseline's beside them; the
// files have the other quantiles.
func latencyShown() []string {
	return []string{
		"ttft_p50_ms", "baseline_ttft_p50_ms", "ttft_p99_ms", "baseline_ttft_p99_ms", "tpot_p50_ms", "baseline_tpot_p50_ms", "tpot_speedup",
		"e2e_latency_p50_ms", "baseline_e2e_latency_p50_ms", "e2e_latency_p99_ms", "baseline_e2e_latency_p99_ms",
		"goodput", "baseline_goodput", "goodput_req_s", "baseline_goodput_req_s", "lateness_p99_ms",
	}
}

// latencyGrid is what requests felt like, for the cells that were timed; a column
// that no cell has is left out.
func latencyGrid(ls []line, axes []Column, notes *footnotes) Grid {
	g := Grid{Title: "Latency"}
	var cols []Column
	for _, name := range latencyShown() {
		c := column(name)
		for _, l := range ls {
			if len(l.ok) > 0 && l.value(c) != nil {
				cols = append(cols, c)
				break
			}
		}
	}
	if len(cols) == 0 {
		return Grid{}
	}
	g.Brief = cols[0].Name == latencyShown()[0] // e2e latencies alone are there always
	for _, c := range axes {
		g.Columns = append(g.Columns, c.header())
	}
	for _, c := range cols {
		g.Columns = append(g.Columns, c.header())
	}
	for _, l := range ls {
		timed := false
		for _, c := range cols {
			timed = timed || len(l.ok) > 0 && l.value(c) != nil
		}
		if timed {
			cells := l.identity(axes)
			for _, c := range cols {
				cells = append(cells, l.cell(c, notes))
			}
			g.Lines = append(g.Lines, cells)
		}
	}
	return g
}
