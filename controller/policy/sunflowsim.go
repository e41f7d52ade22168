package policy

import (
	"cmp"

	"lightloom/controller"
	"lightloom/controller/policy/sunflowsim"
)

// sunflowSim are the parts that follow the rules of Sunflow's own simulator.
func sunflowSim() []entry {
	simulated := func(name string, q Question, doc string, make func(Options) Part) entry {
		return entry{PartInfo{"sunflowsim-" + name, []Question{q}, doc,
			controller.Capabilities{Circuits: q == Circuits, Simulated: true}},
			func(o Options) []Part { return []Part{make(o)} }}
	}
	return []entry{
		simulated("sunflow", Circuits, "sunflow by the rules of its authors' simulator", func(Options) Part {
			return sunflowsim.NewSunflow()
		}),
		simulated("solstice", Circuits, "solstice by the rules of that simulator", func(Options) Part {
			return sunflowsim.NewSolstice()
		}),
		simulated("edmonds", Circuits, "edmonds by the rules of that simulator", func(o Options) Part {
			return sunflowsim.NewEdmonds(cmp.Or(o.EdmondsSlot, sunflowsim.EdmondsSlot))
		}),
		simulated("sebf", Share, "Varys by the rules of that simulator", func(Options) Part { return sunflowsim.NewVarys() }),
		simulated("dclas", Share, "Aalo by the rules of that simulator", func(Options) Part { return sunflowsim.NewAalo() }),
	}
}
