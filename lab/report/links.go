package report

import (
	"fmt"
	"strconv"
	"time"

	"lightloom/pathmap"
)

// LinkLoads are the bytes that had passed the packet links between switches at instants of a run.
type LinkLoads struct {
	Links []LoadedLink      `json:"links"`
	At    []time.Duration   `json:"at_ns"`
	Bytes [][]pathmap.Bytes `json:"bytes"` // of layer 2, by instant and then by link; the first are those at the begin
}

// LoadedLink is one direction of a cable.
type LoadedLink struct {
	From     string                `json:"from"`
	To       string                `json:"to"`
	Capacity pathmap.BitsPerSecond `json:"bits_per_second"`
}

// share is the part of its capacity that a link carried between two readings.
func (l *LinkLoads) share(link, from, to int) float64 {
	could := float64(l.Links[link].Capacity) / 8 * (l.At[to] - l.At[from]).Seconds()
	if could <= 0 {
		return 0
	}
	return float64(l.Bytes[to][link]-l.Bytes[from][link]) / could
}

// Utilisation is how much of their capacity links carried from the first to the last reading of a run.
type Utilisation struct {
	Links        int     `json:"links"` // packet links between switches, each direction for itself
	Mean         float64 `json:"mean"`
	Busiest      float64 `json:"busiest"`
	BusiestLink  string  `json:"busiest_link"` // of equally busy ones the first
	CircuitsDuty float64 `json:"circuits_duty_cycle"`
}

// utilisation sums up what links and ports of the optical switch did; nil where nobody read the links' counters.
func (p *PolicyResult) utilisation() *Utilisation {
	l := p.Links
	if l == nil || len(l.Links) == 0 || len(l.At) < 2 {
		return nil
	}
	u := &Utilisation{Links: len(l.Links), CircuitsDuty: p.duty()}
	for i, link := range l.Links {
		share := l.share(i, 0, len(l.At)-1)
		u.Mean += share / float64(len(l.Links))
		if u.BusiestLink == "" || share > u.Busiest {
			u.Busiest, u.BusiestLink = share, link.From+"→"+link.To
		}
	}
	return u
}

// duty is the share of the run in which a port of the optical switch had a circuit in service, in the mean of those
// that had one at all.
func (p *PolicyResult) duty() float64 {
	ports, sum := map[int32]bool{}, time.Duration(0)
	for _, c := range p.Circuits {
		ports[int32(c.In)] = true
		sum += max(0, c.End-c.InService)
	}
	all := float64(len(ports)) * p.makespan().Seconds()
	if all == 0 {
		return 0
	}
	return min(1, sum.Seconds()/all)
}

// linksFile has a line a policy, link and time between two readings.
const linksFile = "links.csv"

func linkColumns() []string {
	return []string{"policy", "from", "to", "bits_per_second", "from_seconds", "to_seconds", "bytes",
		"utilisation"}
}

// linksCSV writes what links carried over time.
func (r *Report) linksCSV() ([]byte, error) {
	lines := [][]string{linkColumns()}
	for i := range r.results {
		l := r.results[i].Links
		if l == nil {
			continue
		}
		for k, link := range l.Links {
			for t := 1; t < len(l.At); t++ {
				lines = append(lines, []string{r.results[i].Name, link.From, link.To,
					strconv.FormatInt(int64(link.Capacity), 10),
					instant(l.At[t-1]), instant(l.At[t]), strconv.FormatInt(int64(l.Bytes[t][k]-l.Bytes[t-1][k]), 10),
					decimal(l.share(k, t-1, t))})
			}
		}
	}
	return table2CSV(lines)
}

// utilised are the lines of utilisation, if it is known of some row.
func (r *Report) utilised() []line {
	shown := func(show func(*Utilisation) string) func(*Policy) string {
		return func(p *Policy) string {
			if p.Utilisation == nil {
				return "–"
			}
			return show(p.Utilisation)
		}
	}
	for _, p := range r.Policies {
		if p.Utilisation != nil {
			return []line{
				{name: "packet links, mean load", of: shown(func(u *Utilisation) string { return percent(u.Mean) })},
				{name: "packet links, busiest", of: shown(func(u *Utilisation) string {
					return fmt.Sprintf("%s %s", u.BusiestLink, percent(u.Busiest))
				})},
				{name: "circuits, duty cycle", of: shown(func(u *Utilisation) string { return percent(u.CircuitsDuty) })},
			}
		}
	}
	return nil
}
