package report

import (
	"strconv"
	"time"
)

// circuitsFile has a line a policy and circuit: report.json holds their figures only.
const circuitsFile = "circuits.csv"

func circuitColumns() []string {
	return []string{"policy", "in", "out", "coflow", "moving_seconds", "in_service_seconds", "end_seconds"}
}

// circuitsCSV writes every circuit of a run. The coflow is empty where a circuit served all,
// in_service_seconds where it was never in service.
func (r *Report) circuitsCSV() ([]byte, error) {
	lines := [][]string{circuitColumns()}
	for i := range r.results {
		for _, c := range sortedCircuits(r.results[i].Circuits) {
			coflow, service := "", ""
			if c.Coflow >= 0 {
				coflow = strconv.Itoa(int(c.Coflow))
			}
			if c.InService < c.End {
				service = instant(c.InService)
			}
			lines = append(lines, []string{r.results[i].Name, strconv.Itoa(int(c.In)),
				strconv.Itoa(int(c.Out)), coflow,
				instant(c.Moving), service, instant(c.End)})
		}
	}
	return table2CSV(lines)
}

func instant(t time.Duration) string { return decimal(t.Seconds()) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// circuits adds the circuits, what their ports did, and how much was under way over time.
func (x *exporter) circuits(r *Report, lines [][]string) {
	x.copied("circuits", circuitColumns(), lines)
	for i := range r.Policies {
		p := &r.Policies[i]
		x.ports(p, r.Fabric.Racks, lines)
		x.series(p, lines)
	}
}

// ports adds the duty cycle of each port of the optical switch: the shares of the run in which a
// circuit from it was in service, and in which one was being made.
func (x *exporter) ports(p *Policy, racks int, lines [][]string) {
	type port struct {
		circuits, service, moving float64
	}
	var all []port
	for _, l := range lines {
		in, err := strconv.Atoi(l[1])
		if l[0] != p.Name || err != nil || in < 0 || in > 1<<16 {
			continue
		}
		for len(all) <= in {
			all = append(all, port{})
		}
		moving, service, end := spanOf(l)
		all[in].circuits++
		all[in].service += end - service
		all[in].moving += service - moving
	}
	for in, a := range all {
		x.sheet("ports").add([]field{{"seed", x.seed}, {"policy", p.Name}, {"port", strconv.Itoa(in)},
			{"rack", strconv.Itoa(in % max(racks, 1))}, {"circuits", decimal(a.circuits)},
			{"in_service_share", decimal(a.service / max(p.Makespan, 1e-9))},
			{"reconfiguring_share", decimal(a.moving / max(p.Makespan, 1e-9))}})
	}
}

// spanOf returns when a line's circuit began to move, came into service and ended. One that never came
// into service did so at its end.
func spanOf(l []string) (moving, service, end float64) {
	moving, _ = strconv.ParseFloat(l[4], 64)
	end, _ = strconv.ParseFloat(l[6], 64)
	service, err := strconv.ParseFloat(l[5], 64)
	if err != nil {
		service = end
	}
	return moving, service, end
}

// instants is how many points a series has.
const instants = 200

// underWay is what was under way at an instant.
type underWay struct {
	at                             float64 // seconds
	jobs, coflows, service, moving int
}

// underWay returns what was under way at evenly spaced instants, from the lines of circuits.csv.
func (p *Policy) underWay(lines [][]string) (all []underWay) {
	var spans [][3]float64
	for _, l := range lines {
		if l[0] == p.Name {
			from, lit, end := spanOf(l)
			spans = append(spans, [3]float64{from, lit, end})
		}
	}
	for k := range instants + 1 {
		t := p.Makespan * float64(k) / instants
		u := underWay{at: t, jobs: under(p.Jobs, t), coflows: under(p.Coflows, t)}
		for _, s := range spans {
			switch {
			case s[0] <= t && t < s[1]:
				u.moving++
			case s[1] <= t && t < s[2]:
				u.service++
			}
		}
		all = append(all, u)
	}
	return all
}

// series adds what was under way at evenly spaced instants.
func (x *exporter) series(p *Policy, lines [][]string) {
	for _, u := range p.underWay(lines) {
		x.sheet("series").add([]field{{"seed", x.seed}, {"policy", p.Name}, {"time_seconds", decimal(u.at)},
			{"jobs", strconv.Itoa(u.jobs)}, {"coflows", strconv.Itoa(u.coflows)},
			{"circuits_in_service", strconv.Itoa(u.service)},
			{"circuits_reconfiguring", strconv.Itoa(u.moving)}})
	}
}

// under counts what had arrived and not ended.
func under(rows []Row, t float64) (n int) {
	for _, r := range rows {
		if r.Arrival <= t && t < r.Arrival+r.Took {
			n++
		}
	}
	return n
}
