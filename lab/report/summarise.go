package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// MaxRows bounds the jobs and coflows that are listed one by one; with more, report.json holds
// statistics alone.
const MaxRows = 2000

// Summarise makes the report of runs of the same jobs; others are compared with the first. It keeps
// results, without copying, for the pictures.
func Summarise(m Meta, results []PolicyResult) *Report {
	r := &Report{
		Format: Format, Version: m.Version, Title: m.Title, Seed: m.Seed, Manifest: m.Manifest,
		Percentile: PercentileDefinition,
		Workload:   m.Workload, Fabric: m.Fabric, Controller: m.Controller, Notes: m.Notes,
		Losses: []string{}, Policies: []Policy{}, results: results,
	}
	for i := range results {
		p := summary(&results[i])
		p.Slower = slower(&results[0], &results[i])
		r.Policies = append(r.Policies, p)
		r.Controller.LeaderOutageSeconds = max(r.Controller.LeaderOutageSeconds, p.LeaderOutage)
	}
	for _, x := range lost(r.Policies) {
		r.Losses = append(r.Losses, x.text)
	}
	return r
}

// late says that moves took much longer than circuit schedules assumed, or nothing.
func (p *Policy) late() string {
	o := p.ReconfigurationDelay
	if !o.Marked {
		return ""
	}
	return fmt.Sprintf("%s assumed a reconfiguration delay of %s a move and had %s (p90): more than twice as much, so "+
		"its circuit schedules were made on a wrong figure.", p.Name, micros(o.Assumed), micros(o.P90))
}

func summary(p *PolicyResult) Policy {
	out := Policy{Name: p.Name, Notes: p.Notes, Health: p.Health, Utilisation: p.utilisation(),
		Packets: p.Packets,
		Traffic: Traffic{ByNetwork: p.ByNetwork},
		Reconfiguration: Reconfiguration{Reconfigurations: int64(p.moved().ReconfigurationDelays.Count()),
			ReconfigurationDelay: reconfigurationDelay(p),
			Dark:                 dark(p)},
		Work: p.Work}
	out.Basis = cmp.Or(p.Basis, "payload")
	out.Makespan = p.makespan().Seconds()
	var cct, jct []time.Duration
	for i := range p.Coflows {
		c := &p.Coflows[i]
		cct = append(cct, c.CCT())
		out.BytesTotal += int64(c.Bytes)
		out.BytesLocal += int64(c.Local)
		out.BytesRack += int64(c.Rack)
	}
	out.BytesInter = out.BytesTotal - out.BytesLocal - out.BytesRack
	for i := range p.Jobs {
		if !p.Jobs[i].Cancelled {
			jct = append(jct, p.Jobs[i].JCT())
		}
	}
	out.CCT, out.JCT = seconds(cct), seconds(jct)
	out.Throughput = throughput(p.Jobs, p.makespan())
	out.OverBound, out.BoundMean, out.Bins = overBound(p.Coflows), boundMean(p.Coflows), bins(p.Coflows)
	out.Proven = proven(p.Coflows)
	out.WeightedCCT, out.Deadlines = weighted(p.Coflows), deadlines(p.Coflows)
	if sum := p.OCS + p.EPS; sum > 0 {
		out.OCSShare = float64(p.OCS) / float64(sum)
	}
	out.Stages = stages(p)
	out.Jobs, out.Coflows = p.rows()
	out.Faults, out.Received = faultRows(p), receivedRows(p)
	return out
}

// makespan is from the first arrival to the last end.
func (p *PolicyResult) makespan() time.Duration {
	if len(p.Jobs) == 0 {
		return 0
	}
	first, last := p.Jobs[0].Arrival, p.Jobs[0].End
	for _, j := range p.Jobs {
		first, last = min(first, j.Arrival), max(last, j.End)
	}
	return last - first
}

func (p *PolicyResult) rows() (jobs, coflows []Row) {
	if len(p.Jobs) <= MaxRows {
		for i := range p.Jobs {
			j := &p.Jobs[i]
			jobs = append(jobs, Row{ID: int32(j.ID), Name: j.Name, Arrival: j.Arrival.Seconds(),
				Took:      j.JCT().Seconds(),
				Delivered: int64(j.Delivered), Throughput: j.Throughput(), Cancelled: j.Cancelled})
		}
	}
	if len(p.Coflows) <= MaxRows {
		for i := range p.Coflows {
			c := &p.Coflows[i]
			coflows = append(coflows, Row{ID: int32(c.ID), Name: c.Name, Arrival: c.Arrival.Seconds(),
				Took:  c.CCT().Seconds(),
				Bytes: int64(c.Bytes), Local: int64(c.Local), HostFlows: c.HostFlows, Flows: c.Flows, Proof: c.Proof})
		}
	}
	byID := func(a, b Row) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(jobs, byID)
	slices.SortFunc(coflows, byID)
	return jobs, coflows
}

func seconds(d []time.Duration) Seconds {
	v := sortedIn(time.Second, d)
	s := Seconds{Count: len(v), Mean: Mean(v), P50: Percentile(v, .5), P90: Percentile(v, .9),
		P95: Percentile(v, .95),
		P99: Percentile(v, .99)}
	if len(v) > 0 {
		s.Max = v[len(v)-1]
	}
	return s
}

func reconfigurationDelay(p *PolicyResult) ReconfigurationDelay {
	took := &p.moved().ReconfigurationDelays
	v := took.Percentiles(time.Microsecond, .5, .9, .99)
	o := ReconfigurationDelay{Assumed: float64(p.ReconfigurationDelayAssumed) / 1e3, Count: took.Count(),
		P50: v[0], P90: v[1], P99: v[2]}
	o.Marked = o.Count > 0 && o.P90 > 2*o.Assumed
	return o
}

func dark(p *PolicyResult) Dark {
	took := &p.moved().Darks
	v := took.Percentiles(time.Microsecond, .5, .99)
	return Dark{Asked: float64(p.DarkAsked) / 1e3, Count: took.Count(), P50: v[0], P99: v[1],
		Source: cmp.Or(p.DarkSource, "none")}
}

func stages(p *PolicyResult) (out []Stage) {
	m := p.moved()
	for _, name := range StageNames() {
		if took := m.known(name); took != nil {
			v := took.Percentiles(time.Microsecond, .5, .99)
			out = append(out, Stage{Name: name, Count: took.Count(), P50: v[0], P99: v[1]})
		}
	}
	return out
}

// slower compares coflow by coflow. Ids follow the order of acceptance, so they name the same coflow in
// all runs.
func slower(base, p *PolicyResult) Slower {
	before := make(map[southbound.CoflowID]time.Duration, len(base.Coflows))
	for i := range base.Coflows {
		before[base.Coflows[i].ID] = base.Coflows[i].CCT()
	}
	s := Slower{}
	worst := controller.AnyCoflow
	for i := range p.Coflows {
		c := &p.Coflows[i]
		was, ok := before[c.ID]
		if !ok {
			continue
		}
		s.Of++
		more := c.CCT() - was
		if more <= time.Millisecond || float64(more) <= 0.01*float64(was) {
			continue
		}
		s.Count++
		if ratio := float64(c.CCT()) / float64(max(was, time.Millisecond)); ratio > s.Ratio ||
			ratio == s.Ratio &&
				c.ID < worst {
			s.Ratio, s.Worst, worst = ratio, cmp.Or(c.Name, fmt.Sprintf("coflow %d", c.ID)), c.ID
		}
	}
	return s
}

// losses describes where a row is worse than the first, by more than half a percent.
func losses(all []Policy, i int) (out []remark) {
	base, p := &all[0], &all[i]
	if i == 0 {
		return nil
	}
	var worse, lines []string
	for _, f := range figures() {
		was, is := f.of(base), f.of(p)
		if was > 0 && is > was*1.005 {
			worse = append(worse, fmt.Sprintf("%s (%s s against %s s, %+.1f %%)", f.name, sig(is),
				sig(was), 100*(is/was-1)))
			lines = append(lines, shownAs(f.name))
		}
	}
	if len(worse) > 0 {
		out = append(out, remark{i, lines, fmt.Sprintf("%s loses to %s in %s.", p.Name, base.Name,
			strings.Join(worse, ", "))})
	}
	if p.Slower.Count > 0 {
		out = append(out, remark{i, nil, fmt.Sprintf("%s makes %d of %d coflows slower than %s does; the worst, %s, takes "+
			"%s times as long.", p.Name, p.Slower.Count, p.Slower.Of, base.Name, p.Slower.Worst, sig(p.Slower.Ratio))})
	}
	return out
}

// beaten describes, for each better row, the figures in which that row has the least of all and this
// one has more, by more than half a percent. losses covers the figures in which the first row has the
// least.
func beaten(all []Policy, i int) (out []remark) {
	if i == 0 {
		return nil
	}
	by, lines := make([][]string, len(all)), make([][]string, len(all))
	for _, f := range figures() {
		least := 0
		for k := range all {
			if f.of(&all[k]) < f.of(&all[least]) {
				least = k
			}
		}
		is, best := f.of(&all[i]), f.of(&all[least])
		switch {
		case least == 0 || is <= best*1.005:
			continue
		case best > 0:
			by[least] = append(by[least], fmt.Sprintf("%s (%+.1f %%)", f.name, 100*(is/best-1)))
		default:
			by[least] = append(by[least], f.name)
		}
		lines[least] = append(lines[least], shownAs(f.name))
	}
	for k, names := range by {
		if len(names) > 0 {
			out = append(out, remark{i, lines[k], fmt.Sprintf("%s is beaten by %s in %s.",
				all[i].Name, all[k].Name,
				strings.Join(names, ", "))})
		}
	}
	return out
}

// figure is a time of a row by which rows are compared: less is better.
type figure struct {
	name string
	of   func(*Policy) float64
}

func figures() []figure {
	return []figure{
		{"makespan", func(p *Policy) float64 { return p.Makespan }},
		{"mean CCT", func(p *Policy) float64 { return p.CCT.Mean }},
		{"p50 CCT", func(p *Policy) float64 { return p.CCT.P50 }},
		{"p95 CCT", func(p *Policy) float64 { return p.CCT.P95 }},
		{"mean JCT", func(p *Policy) float64 { return p.JCT.Mean }},
		{"p50 JCT", func(p *Policy) float64 { return p.JCT.P50 }},
		{"p95 JCT", func(p *Policy) float64 { return p.JCT.P95 }},
	}
}
