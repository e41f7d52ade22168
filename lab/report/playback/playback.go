package playback

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"lightloom/controller"
	"lightloom/controller/page"
	"lightloom/lab/report"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

const (
	instants  = 240    // of a row, evenly spaced
	mostMoves = 20_000 // that are drawn over time
	mostEnded = 30     // jobs that have ended, of an instant
)

// Read reads a report, or the folder of one, for the page. fabric is that of the run, where the report
// names a file that lies elsewhere now; empty: the report's own.
func Read(path, fabric string) (*page.Recording, error) {
	r, err := report.Read(path)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	circuits, links, err := report.Tables(path)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	f, err := fabricOf(r, fabric)
	if err != nil {
		return nil, err
	}
	out := &page.Recording{Of: page.FabricOf(f, r.Policies[0].Name, r.Fabric.On),
		Name: r.Title + ", " + r.Workload.Source}
	for i := range r.Policies {
		one := newRow(f, &r.Policies[i])
		if err := one.read(circuits, links); err != nil {
			return nil, hint.Wrap(fmt.Errorf("play %q: %w", path, err), "run it again: lightloom rerun "+path)
		}
		if left := one.thin(); left > 1 && out.Note == "" {
			out.Note = fmt.Sprintf("Over time one of %d circuits is drawn.", left)
		}
		out.Rows = append(out.Rows, page.Row{Policy: one.policy.Name, Instants: one.instants(), Look: one.look})
	}
	return out, nil
}

// fabricOf makes the fabric of a report.
func fabricOf(r *report.Report, other string) (*topo.Fabric, error) {
	text := cmp.Or(other, r.Fabric.Spec)
	if other == "" && r.Manifest != nil {
		text = cmp.Or(r.Manifest.Fabric, text)
	}
	spec, err := topo.FromArgument(text)
	var f *topo.Fabric
	if err == nil {
		f, err = topo.New(spec)
	}
	if err == nil && f.Racks != r.Fabric.Racks {
		err = fmt.Errorf("it has %d racks, and the report is of %d", f.Racks, r.Fabric.Racks)
	}
	if err != nil {
		return nil, hint.Wrap(fmt.Errorf("make the report's fabric %q: %w", text, err),
			"name the file that the run had: --fabric FILE")
	}
	return f, nil
}

// row is what is known of a run under one policy.
type row struct {
	fabric   *topo.Fabric
	policy   *report.Policy
	jobOf    map[int32]controller.JobID // by coflow
	circuits []page.Move
	loads    [][]load // by link
	end      float64
}

// load is what passed a link between two readings.
type load struct {
	from, to float64
	rate     int64 // kb/s
}

func newRow(f *topo.Fabric, p *report.Policy) *row {
	w := &row{fabric: f, policy: p, jobOf: map[int32]controller.JobID{}}
	for _, all := range [][]report.Row{p.Jobs, p.Coflows} {
		for _, x := range all {
			w.end = max(w.end, x.Arrival+x.Took)
		}
	}
	w.owners()
	return w
}

// owners finds the job of each coflow: the one of its name that was there when it came. Reports do not
// name it.
func (w *row) owners() {
	byName := map[string][]*report.Row{}
	for i := range w.policy.Jobs {
		j := &w.policy.Jobs[i]
		byName[j.Name] = append(byName[j.Name], j)
	}
	for _, c := range w.policy.Coflows {
		for _, j := range byName[c.Name] {
			if j.Arrival <= c.Arrival && c.Arrival <= j.Arrival+j.Took {
				w.jobOf[c.ID] = controller.JobID(j.ID)
				break
			}
		}
	}
}

// read takes the lines of the row from the tables beside the report.
func (w *row) read(circuits, links [][]string) error {
	for i, l := range circuits {
		if l[0] != w.policy.Name {
			continue
		}
		if err := w.circuit(l); err != nil {
			return fmt.Errorf("line %d of the table of circuits: %w", i+2, err)
		}
	}
	byName := map[string]pathmap.LinkID{}
	for i, l := range w.fabric.Topology.Links() {
		byName[w.fabric.Topology.Node(l.From).Name+"→"+w.fabric.Topology.Node(l.To).Name] = pathmap.LinkID(i)
	}
	for i, l := range links {
		if l[0] != w.policy.Name {
			continue
		}
		if w.loads == nil {
			w.loads = make([][]load, len(w.fabric.Topology.Links()))
		}
		id, known := byName[l[1]+"→"+l[2]]
		v, err := floats(l[4], l[5], l[6])
		switch {
		case err != nil:
			return fmt.Errorf("line %d of the table of links: %w", i+2, err)
		case !known:
			return fmt.Errorf("line %d of the table of links: the fabric has no link from %s to %s",
				i+2, l[1], l[2])
		case v[1] > v[0]:
			w.loads[id] = append(w.loads[id], load{v[0], v[1], int64(v[2] * 8 / 1000 / (v[1] - v[0]))})
		}
	}
	return nil
}

// circuit adds a line of circuits.csv.
func (w *row) circuit(l []string) error {
	v, err := floats(l[1], l[2], l[4], l[6])
	if err != nil {
		return err
	}
	ports := float64(w.fabric.OCSPorts())
	if v[0] < 0 || v[0] >= ports || v[1] < 0 || v[1] >= ports {
		return fmt.Errorf("the optical switch has no ports %s and %s", l[1], l[2])
	}
	m := page.Move{In: southbound.Port(v[0]), Out: southbound.Port(v[1]), Job: -1, Intent: v[2], Cleared: v[2],
		Drained: v[2], Accepted: v[2], Connected: -1, InService: -1, Ended: v[3]}
	if l[5] != "" {
		if lit, err := floats(l[5]); err == nil {
			m.Connected, m.InService = lit[0], lit[0]
		}
	}
	if l[3] != "" {
		id, err := strconv.ParseInt(l[3], 10, 32)
		if err != nil {
			return fmt.Errorf("%q is no coflow", l[3])
		}
		if job, known := w.jobOf[int32(id)]; known {
			m.Job = job
		}
	}
	w.circuits, w.end = append(w.circuits, m), max(w.end, m.Ended)
	return nil
}

// floats parses finite numbers.
func floats(texts ...string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i, s := range texts {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, fmt.Errorf("%q is no number", s)
		}
		out[i] = v
	}
	return out, nil
}

// thin returns of how many circuits one is drawn over time.
func (w *row) thin() int { return max(1, (len(w.circuits)+mostMoves-1)/mostMoves) }

// instants are when the page shows the row.
func (w *row) instants() []float64 {
	out := make([]float64, instants+1)
	for i := range out {
		out[i] = w.end * float64(i) / instants
	}
	return out
}
