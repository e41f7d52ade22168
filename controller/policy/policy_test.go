package policy_test

import (
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// names returns every preset, and for each part that no preset has, a policy with it.
func names() []string {
	var all []string
	for _, i := range policy.All() {
		all = append(all, i.Name)
	}
	for _, p := range policy.Parts() {
		if !slices.Contains(all, p.Name) {
			all = append(all, p.Name)
		}
	}
	return append(all, "crosslayer+sunflow+maxmin")
}

// slow are policies, by a part of the name, whose decision takes milliseconds: few views have to do in a normal run.
func slow(name string) bool {
	return slices.ContainsFunc([]string{"crosslayer", "application", "joint", "apart", "froba", "corba", "mincct"},
		func(part string) bool { return strings.Contains(name, part) })
}

// maker parses a policy's name once, and returns what makes instances of it.
func maker(t *testing.T, name string) func() controller.Policy {
	t.Helper()
	spec, err := policy.Parse(name, policy.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return func() controller.Policy { return spec.New(policy.Options{}) }
}

func TestConformance(t *testing.T) {
	view := policytest.Remembering(policytest.View)
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			views := tries.Of(30, 200)
			switch {
			case strings.Contains(name, "crosslayer") || name == "joint":
				views = tries.Of(10, 25)
			case slow(name):
				views = tries.Of(10, 200)
			}
			policytest.RunOn(t, views, view, maker(t, name))
		})
	}
}

// TestConformanceOfPackers: the laws hold for the rules by which a Packer gives slots to incremental jobs, too. It asks
// for what coflows have left before it reads that.
func TestConformanceOfPackers(t *testing.T) {
	view := policytest.Remembering(func(seed uint64) *controller.View {
		v := policytest.View(seed)
		for h := range v.Free {
			if !slices.Contains(v.Lost, southbound.HostID(h)) {
				v.Free[h] = 9
			}
		}
		for i, j := range v.Waiting {
			v.Waiting[i] = &controller.Job{ID: j.ID, Arrival: j.Arrival, FirstTask: j.FirstTask, FirstCoflow: j.FirstCoflow,
				Incremental: true, Stages: []controller.Stage{{Tasks: make([]controller.Task, 1+seed%3)}}}
		}
		return v
	})
	for _, rule := range []pushbox.Rule{pushbox.PushBox, pushbox.Hadoop, pushbox.ShuffleWatcher, pushbox.NEAT} {
		policytest.RunOn(t, tries.Of(60, 400), view, func() controller.Policy {
			p := policy.Compose(place.NewPacker(rule, nil), nil, route.Shortest{}, new(share.Priority))
			if !p.Capabilities().Late {
				t.Fatal("it reads what coflows have left without being asked")
			}
			return p
		})
	}
}

// ownShortest routes in a way of its own.
type ownShortest struct{ route.Shortest }

// TestLate: a policy asks for what coflows have left if all of its parts do, whether a name or Compose makes it.
func TestLate(t *testing.T) {
	for name, want := range map[string]bool{"pushbox": true, "hadoop": true, "pushbox+sunflow": false,
		"fair+maxmin": false} {
		if got := maker(t, name)().Capabilities().Late; got != want {
			t.Errorf("%s: late %v", name, got)
		}
	}
	if p := policy.Compose(nil, nil, ownShortest{}, new(share.TCP)); p.Capabilities().Late {
		t.Error("a part passes for one that it embeds")
	}
}

// TestConformanceOfParallelOCSes: the laws hold on fabrics with four OCSes for every policy that lights
// circuits there: no port is lit twice, and both ports of a circuit are of one OCS. Each of them lights some
// of every OCS.
func TestConformanceOfParallelOCSes(t *testing.T) {
	view := policytest.Remembering(policytest.Parallel)
	for _, name := range names() {
		fresh := maker(t, name)
		if !fresh().Capabilities().Wavelengths {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			laws, views := tries.Of(30, 400), tries.Of[uint64](100, 400)
			if slow(name) {
				laws, views = tries.Of(10, 100), tries.Of[uint64](40, 100)
			}
			policytest.RunOn(t, laws, view, fresh)
			lit := map[southbound.DeviceID]int{}
			for seed := range views {
				v := view(seed)
				for _, r := range fresh().Decide(v, nil).Reserve {
					ocs, _ := v.Fabric.OCSAt(int32(r.In))
					lit[ocs-v.Fabric.OCSNode]++
				}
			}
			// What sockets hold is less than an elephant in these views.
			if len(lit) != 4 && name != "edmonds-backlog" {
				t.Errorf("circuits by OCS: %v, want some of each", lit)
			}
		})
	}
}

// TestConformanceOfEstimates: the laws hold for every circuit policy where traffic is an estimate, too,
// and each of them reserves something for it, unless its racks keep bytes that are in no estimate.
// Those that follow another simulator's rules know all traffic, as it does.
func TestConformanceOfEstimates(t *testing.T) {
	view := policytest.Remembering(policytest.Estimated)
	for _, p := range policy.Parts() {
		if p.Questions[0] != policy.Circuits || p.Simulated {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			fresh := maker(t, "random+ecmp+"+p.Name)
			policytest.RunOn(t, tries.Of(30, 200), view, fresh)
			reserved, views := 0, tries.Of[uint64](60, 200)
			for seed := range views {
				v := view(seed)
				for _, r := range fresh().Decide(v, nil).Reserve {
					if reserved++; r.Coflow != controller.AnyCoflow ||
						v.Traffic.Bytes[r.In][r.Out] < max(v.ElephantThreshold, 1) {
						t.Fatalf("view %d: reserves %+v for %d bytes", seed, r, v.Traffic.Bytes[r.In][r.Out])
					}
				}
			}
			if p.Relays { // what racks keep for each other is in no estimate
				if reserved > 0 {
					t.Errorf("%d circuits", reserved)
				}
				return
			}
			if reserved < tries.Of(20, 100) {
				t.Errorf("only %d circuits", reserved)
			}
		})
	}
}

func TestNew(t *testing.T) {
	for _, tc := range []struct {
		name, policy string
		opt          policy.Options
		err          []string // parts of the message; nil: none
	}{
		{"preset", "random+ecmp+sunflow", policy.Options{}, nil},
		{"any order", "sunflow+ecmp+random", policy.Options{}, nil},
		{"one part", "maxmin", policy.Options{}, nil},
		{"replaced", "random+ecmp", policy.Options{Overrides: policy.Overrides{Place: "fair",
			Circuits: "sunflow",
			Share:    "maxmin"}}, nil},
		{"circuits taken away", "random+ecmp+sunflow",
			policy.Options{Overrides: policy.Overrides{Circuits: "none"}}, nil},
		{"circuits beside a joint part", "crosslayer",
			policy.Options{Overrides: policy.Overrides{Circuits: "sunflow"}}, nil},
		{"misspelt", "random+ecmp+sunflwo", policy.Options{},
			[]string{`"sunflwo" is unknown`, `did you mean "sunflow"?`}},
		{"a system's name", "random+ecmp+Varys", policy.Options{}, []string{`"Varys" is unknown`, `did you mean "sebf"?`}},
		{"vCPUs that change", "ontapra-drc", policy.Options{}, nil},
		{"wild", "zzzzzzzzz", policy.Options{}, []string{"these are the nearest: ", ", "}},
		{"detours", "random+ecmp+rotor-vlb", policy.Options{}, nil},
		{"empty", "", policy.Options{}, []string{`part "" is unknown`}},
		{"two of one question", "random+fair+ecmp", policy.Options{}, []string{`"random" and "fair" both answer place`}},
		{"beside a joint part", "crosslayer+ecmp", policy.Options{}, []string{`"crosslayer" and "ecmp" both answer route`}},
		{"replaced in a joint part", "crosslayer", policy.Options{Overrides: policy.Overrides{Place: "fair"}},
			[]string{`"crosslayer" decides place and route together: add --policy shortest+tcp`}},
		{"misspelt beside a joint part", "crosslayer+sunflow",
			policy.Options{Overrides: policy.Overrides{Place: "dwan"}},
			[]string{`"dwan" is unknown`, `did you mean "dawn"?`}},
		{"wrong question", "random+ecmp", policy.Options{Overrides: policy.Overrides{Route: "sunflow"}},
			[]string{`"sunflow" answers circuits, not route`, "shortest, ecmp"}},
		{"joint as a part", "random+ecmp", policy.Options{Overrides: policy.Overrides{Route: "crosslayer"}},
			[]string{`"crosslayer" answers place and route, not route`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := policy.New(tc.policy, tc.opt)
			if (err != nil) != (tc.err != nil) || (p == nil) != (err != nil) {
				t.Fatalf("New: %v, %v", p, err)
			}
			for _, want := range tc.err {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestListHasNoNameTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range policy.Parts() {
		if seen[p.Name] || p.Doc == "" || strings.Contains(p.Name, "+") {
			t.Errorf("part %+v: name used twice, with a +, or no doc", p)
		}
		seen[p.Name] = true
	}
	joint := 0
	for _, i := range policy.All() {
		if i.Joint {
			joint++
		}
		if i.Doc == "" {
			t.Errorf("preset %q has no doc", i.Name)
		}
	}
	if joint != 3 {
		t.Errorf("%d joint presets, want application, crosslayer and crosslayer+sunflow", joint)
	}
}

// TestWants: a policy is asked whenever one of its parts may answer differently.
func TestWants(t *testing.T) {
	p, err := policy.New("random+ecmp+sunflow", policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[controller.Kind]bool{controller.JobArrived: true, controller.SlotsFreed: true,
		controller.CoflowEnded: true, controller.HostFlowEnded: false, controller.FabricChanged: true} {
		if p.Wants().Has(kind) != want {
			t.Errorf("wants kind %d: %v", kind, !want)
		}
	}
}

func FuzzNew(f *testing.F) {
	for _, i := range policy.All() {
		f.Add(i.Name, "", "", "", "")
	}
	f.Add("crosslayer", "fair", "none", "", "tcp")
	f.Fuzz(func(t *testing.T, name, place, circuits, route, share string) {
		p, err := policy.New(name, policy.Options{Overrides: policy.Overrides{Place: place,
			Circuits: circuits, Route: route,
			Share: share}})
		if (p == nil) != (err != nil) {
			t.Errorf("New(%q): %v, %v", name, p, err)
		}
	})
}

// TestBlind: some policies read nothing of what coflows have left (policytest checks that they decide
// the same without it), and a policy that reads it does not claim to be blind.
func TestBlind(t *testing.T) {
	blind := 0
	for _, name := range append(names(), "sebf") {
		p, err := policy.New(name, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Capabilities().Blind {
			blind++
		}
		if name == "sebf" && p.Capabilities().Blind {
			t.Error("sebf goes by what is left, and says it does not")
		}
	}
	if blind < 4 {
		t.Errorf("%d policies are blind", blind)
	}
}

// TestCapabilities: a policy can do what its parts can, and lacks what a part that is replaced could.
func TestCapabilities(t *testing.T) {
	for _, tc := range []struct {
		policy string
		opt    policy.Options
		want   controller.Capabilities
	}{
		{"random+ecmp", policy.Options{}, controller.Capabilities{Blind: true}},
		{"random+ecmp+sunflow", policy.Options{}, controller.Capabilities{Circuits: true, Wavelengths: true}},
		{"random+ecmp+sunflow", policy.Options{Overrides: policy.Overrides{Circuits: "none"}},
			controller.Capabilities{Blind: true}},
		{"random+ecmp+sunflow", policy.Options{Overrides: policy.Overrides{Circuits: "rotor"}},
			controller.Capabilities{Circuits: true, Wavelengths: true}},
		{"rotor-vlb", policy.Options{Redecide: policy.AtFlows},
			controller.Capabilities{Circuits: true, Relays: true,
				Blind: true}},
		{"crosslayer+sunflow", policy.Options{},
			controller.Capabilities{Circuits: true, Wavelengths: true, Migrates: true}},
		{"random+ecmp+priority-bins", policy.Options{}, controller.Capabilities{Blind: true, Priorities: true}},
		{"crosslayer-paper", policy.Options{}, controller.Capabilities{}},
		{"joint", policy.Options{}, controller.Capabilities{Circuits: true, Wavelengths: true}},
		{"coflowsim-sebf", policy.Options{}, controller.Capabilities{Simulated: true}},
	} {
		p, err := policy.New(tc.policy, tc.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Capabilities(); got != tc.want {
			t.Errorf("%s with %+v: %+v, want %+v", tc.policy, tc.opt, got, tc.want)
		}
	}
}

// TestRedecide: by themselves some policies decide at the end of host flows and some do not; both can
// be had of all, and what other parts want stays.
func TestRedecide(t *testing.T) {
	for _, tc := range []struct {
		policy   string
		redecide policy.Redecide
		want     bool
	}{
		{"dclas", "", true}, {"fair", "", true}, {"bssi", "", true}, {"sebf", "", false}, {"tcp", "", false},
		{"dclas", policy.AtCoflows, false}, {"fair", policy.AtCoflows, false}, {"bssi", policy.AtCoflows, false},
		{"sebf", policy.AtFlows, true}, {"bssi", policy.AtFlows, true},
	} {
		p, err := policy.New(tc.policy, policy.Options{Redecide: tc.redecide})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Wants().Has(controller.HostFlowEnded); got != tc.want {
			t.Errorf("%s, --redecide %q: asked at the end of flows: %v", tc.policy, tc.redecide, got)
		}
		if !p.Wants().Has(controller.CoflowEnded) && tc.policy != "tcp" {
			t.Errorf("%s, --redecide %q: not asked at the end of coflows", tc.policy, tc.redecide)
		}
	}
}
