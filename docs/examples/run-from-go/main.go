// Command run-from-go compares policies on the simulator, one of which is its own. In a copy of this
// folder, beside a clone of Lightloom:
//
//	$ go work init . PATH-OF-CLONE
//	$ go run .
package main

import (
	"context"
	"fmt"
	"log"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/simulated"
	"lightloom/southbound"
)

// inOrder is a part that places tasks: each on the first host that has free slots.
type inOrder struct{}

// Fill implements policy.Part.
func (inOrder) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	free := slices.Clone(v.Free)
	for _, j := range place.Admit(v) {
		sizes := j.Sizes() // of tasks, in slots; nil: all take one
		if !place.Fits(sizes, free) {
			continue // it waits
		}
		hosts := make([]southbound.HostID, j.Tasks())
		for i := range hosts {
			slots := int32(1)
			if sizes != nil {
				slots = sizes[i]
			}
			h := slices.IndexFunc(free, func(n int32) bool { return n >= slots })
			free[h] -= slots
			hosts[i] = southbound.HostID(h)
		}
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: hosts})
	}
}

func main() {
	p, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms",
		Policies: []string{"random+ecmp", "crosslayer+sunflow"}, On: scenario.OnFlowsim, Coflows: 40, Speedup: 1, Seed: 1}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range p.Rows {
		run(p, row, row.Name, simulated.Options{})
	}
	run(p, p.Rows[0], "in order+ecmp", simulated.Options{
		Policy: func() controller.Policy { return policy.Compose(inOrder{}, nil, route.ECMP{}, &share.TCP{}) }})
}

// run runs one row and prints the mean completion time of its coflows.
func run(p *scenario.Prepared, row scenario.Row, name string, opt simulated.Options) {
	s := p.Scenario(row)
	tb, err := simulated.New(s, opt)
	if err != nil {
		log.Fatal(err)
	}
	defer tb.Close()
	o, err := testbed.Run(context.Background(), tb, s, nil)
	if err != nil {
		log.Fatal(err)
	}
	figures := report.Summarise(report.Meta{}, []report.PolicyResult{o.ResultOf(p)}).Policies[0]
	fmt.Printf("%-20s mean CCT %.3f s\n", name, figures.CCT.Mean)
}
