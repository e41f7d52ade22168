package switches

import (
	"fmt"
	"io"
	"time"

	"lightloom/lab/console"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
	"lightloom/southbound/wiring"
)

// wireReport is what plan, apply and verify write as JSON.
type wireReport struct {
	Testbed  string           `json:"testbed"`
	Switch   string           `json:"switch"`
	Links    int              `json:"links"`
	Circuits int              `json:"circuits"`
	Changed  bool             `json:"changed"` // by apply, or it would be by apply
	Kept     int              `json:"kept,omitempty"`
	Steps    []wireStep       `json:"steps"`
	Strays   []wireStray      `json:"strays"` // that are in the way, or were
	Findings []wiring.Finding `json:"findings"`
	Until    *time.Time       `json:"until,omitempty"` // the end of the lease

	Losses []wiring.CircuitLoss `json:"losses,omitempty"` // where the switch measures them

	Frames *wiring.FrameCheck `json:"frames,omitempty"` // whose findings are among Findings
}

type wireStep struct {
	Action  wiring.Action  `json:"action"`
	Remove  []shownCircuit `json:"remove"`
	Connect []shownCircuit `json:"connect"`
}

type wireStray struct {
	In         southbound.Port `json:"in"`
	Out        southbound.Port `json:"out"`
	Configured bool            `json:"configured"` // false: in the state of the switch only
	Own        bool            `json:"own"`        // left by this testbed
	Text       string          `json:"text"`
}

func (f *wireFlags) report(w *wiring.Wiring, name string, steps []wiring.Step, strays []wiring.Stray) *wireReport {
	r := &wireReport{Testbed: w.Testbed, Switch: name, Links: len(w.Links), Circuits: len(w.Circuits()),
		Changed: len(steps) > 0, Steps: []wireStep{}, Strays: []wireStray{}, Findings: []wiring.Finding{}}
	for _, s := range steps {
		step := wireStep{Action: s.Action, Remove: []shownCircuit{}, Connect: []shownCircuit{}}
		for _, x := range s.Change.Connect {
			to := &step.Connect
			if x.Off {
				to = &step.Remove
			}
			*to = append(*to, shownCircuit{In: x.In, Out: x.Out})
		}
		r.Steps = append(r.Steps, step)
	}
	for _, s := range strays {
		r.Strays = append(r.Strays, wireStray{s.In, s.Out, s.Configured, s.Own, w.Describe(s)})
	}
	return r
}

// show prints a report.
func (f *wireFlags) show(out io.Writer, r *wireReport) error {
	if f.output == console.OutputJSON {
		return console.WriteJSON(out, r)
	}
	for _, s := range r.Strays {
		if _, err := fmt.Fprintln(out, "in the way:", s.Text); err != nil {
			return err
		}
	}
	for i, s := range r.Steps {
		all := []southbound.CrossConnect{}
		for _, x := range s.Connect {
			all = append(all, southbound.CrossConnect{In: x.In, Out: x.Out})
		}
		for _, x := range s.Remove {
			all = append(all, southbound.CrossConnect{In: x.In, Out: x.Out, Off: true})
		}
		if _, err := fmt.Fprintf(out, "step %d: %s %s\n", i+1, s.Action, circuit.PairsText(all)); err != nil {
			return err
		}
	}
	if f.history != "" && len(r.Losses) > 0 {
		if err := r.showLosses(out); err != nil {
			return err
		}
	}
	if err := r.problems(out); err != nil || len(r.Findings) > 0 {
		return err
	}
	if len(r.Steps) == 0 && len(r.Strays) == 0 {
		if _, err := fmt.Fprintln(out, "nothing to do"); err != nil {
			return err
		}
	}
	frames := ""
	if r.Frames != nil {
		frames = fmt.Sprintf("; frames arrive through %d, and %d could not be tried", r.Frames.Arrived,
			len(r.Frames.Untried))
	}
	_, err := fmt.Fprintf(out, "testbed %s at %s: %s, %s%s\n", r.Testbed, r.Switch, console.Count(r.Links, "link"),
		console.Count(r.Circuits, "circuit"), frames)
	return err
}

// problems prints the findings, and the directions that frames say nothing of.
func (r *wireReport) problems(out io.Writer) error {
	t := console.NewTable(out, "link", "circuit", "problem")
	row := func(x wiring.Finding, before string) {
		t.Row(x.Link, fmt.Sprintf("%d→%d", x.In, x.Out), before+x.Problem)
	}
	for _, x := range r.Findings {
		row(x, "")
	}
	untried := 0
	if r.Frames != nil {
		untried = len(r.Frames.Untried)
		for _, x := range r.Frames.Untried {
			row(x, "not tried: ")
		}
	}
	if len(r.Findings)+untried == 0 {
		return nil
	}
	return t.Print()
}
