package replay

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"time"

	"lightloom/controller/policy"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/southbound/durable"
)

// pace is how long one row took on the simulator of this machine.
type pace struct {
	Policy    string          `json:"policy"`
	Fabric    string          `json:"fabric"`
	Redecide  policy.Redecide `json:"redecide,omitempty"` // at every flow takes ten times as long as at coflows
	HostFlows int             `json:"host_flows"`
	Seconds   float64         `json:"seconds"`
}

// pacesKept bounds what is remembered.
const pacesKept = 512

// growth is the power of the number of host flows by which time grows, where only another number was
// seen: a decision looks at all that are there, and there are more decisions.
const growth = 1.3

// mostScaled is the factor of host flows beyond which a pace says nothing.
const mostScaled = 4

// estimate returns how long a row, whose seconds are not known, will take by the nearest that was seen on the same
// fabric, the last among equals.
func estimate(seen []pace, row pace) (time.Duration, bool) {
	best, found := math.Inf(1), time.Duration(0)
	for _, p := range seen {
		if p.Policy != row.Policy || p.Fabric != row.Fabric || p.Redecide != row.Redecide || p.HostFlows <= 0 ||
			row.HostFlows <= 0 {
			continue
		}
		ratio := float64(row.HostFlows) / float64(p.HostFlows)
		if far := math.Abs(math.Log(ratio)); far <= best && far <= math.Log(mostScaled) {
			best, found = far, time.Duration(p.Seconds*math.Pow(ratio, growth)*float64(time.Second))
		}
	}
	return found, found > 0
}

// paces reads what was learnt; nothing where nothing can be read, for it only improves an estimate.
func paces(file string) (all []pace) {
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &all) != nil {
		return nil
	}
	return all
}

// learn remembers how long rows took. A machine that does not keep it goes on without.
func (s *runner) learn(file string, runs []report.PolicyRun) {
	all := paces(file)
	for _, r := range runs {
		for i := range s.Rows {
			if s.Rows[i].Name == r.Name && r.Error == "" && r.Wall > 0 {
				row := s.pace(&s.Rows[i])
				row.Seconds = r.Wall
				all = append(all, row)
			}
		}
	}
	all = all[max(0, len(all)-pacesKept):]
	b, err := json.Marshal(all)
	if err == nil && os.MkdirAll(filepath.Dir(file), 0o755) == nil {
		_ = durable.Replace(file, b, false)
	}
}

// pace returns what tells how long a row takes, without that.
func (s *runner) pace(r *scenario.Row) pace {
	return pace{Policy: r.Name, Fabric: r.Spec.String(), Redecide: s.Options.Rules.Redecide, HostFlows: s.hostFlows()}
}

// pacesFile is beside what doctor --calibrate keeps.
func pacesFile() string { return filepath.Join(filepath.Dir(scenario.CapacityFile()), "paces.json") }
