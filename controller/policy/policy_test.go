package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/southbound"
)

// names returns every preset, and for each part that no preset has, a policy with it.
func names() []string {
	var all []string
	for _, i := range policy.All() {
		all = append(all, i.Name)
	}
	for _, p := range policy.Parts() {
		all = append(all, p.Name)
	}
	return append(all, "crosslayer+sunflow+maxmin")
}

func TestConformance(t *testing.T) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			views := 200
			if strings.Contains(name, "crosslayer") || name == "joint" { // a decision takes milliseconds
				views = 25
			}
			policytest.Run(t, views, func() controller.Policy {
				p, err := policy.New(name, policy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return p
			})
		})
	}
}

// TestConformanceOfEstimates: the laws hold for every circuit policy where traffic is an estimate, too, and each of them
// reserves something for it, unless its racks keep bytes that are in no estimate.
func TestConformanceOfEstimates(t *testing.T) {
	for _, p := range policy.Parts() {
		if p.Questions[0] != policy.Light {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			fresh := func() controller.Policy {
				made, err := policy.New("random+ecmp+"+p.Name, policy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return made
			}
			policytest.RunOn(t, 200, policytest.Estimated, fresh)
			reserved := 0
			for seed := range uint64(200) {
				v := policytest.Estimated(seed)
				for _, r := range fresh().Decide(v, nil).Reserve {
					if reserved++; r.Coflow != controller.AnyCoflow || v.Traffic.Bytes[r.In][r.Out] < max(v.Elephants, 1) {
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
			if reserved < 100 {
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
		{"replaced", "random+ecmp", policy.Options{Place: "fair", Light: "sunflow", Share: "maxmin"}, nil},
		{"circuits taken away", "random+ecmp+sunflow", policy.Options{Light: "none"}, nil},
		{"light beside a joint part", "crosslayer", policy.Options{Light: "sunflow"}, nil},
		{"misspelt", "random+ecmp+sunflwo", policy.Options{}, []string{`"sunflwo" is unknown`, "known: ", `did you mean "sunflow"?`}},
		{"wild", "zzzzzzzzz", policy.Options{}, []string{"known: ", "crosslayer"}},
		{"detours", "random+ecmp+rotor-vlb", policy.Options{}, nil},
		{"empty", "", policy.Options{}, []string{`part "" is unknown`}},
		{"two of one question", "random+fair+ecmp", policy.Options{}, []string{`"random" and "fair" both answer place`}},
		{"beside a joint part", "crosslayer+ecmp", policy.Options{}, []string{`"crosslayer" and "ecmp" both answer route`}},
		{"replaced in a joint part", "crosslayer", policy.Options{Place: "fair"}, []string{`"crosslayer" decides place and route together`}},
		{"wrong question", "random+ecmp", policy.Options{Route: "sunflow"}, []string{`"sunflow" answers light, not route`, "shortest, ecmp"}},
		{"joint as a part", "random+ecmp", policy.Options{Route: "crosslayer"}, []string{`"crosslayer" answers place and route, not route`}},
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
		controller.CoflowEnded: true, controller.BundleEnded: false, controller.FabricChanged: true} {
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
	f.Fuzz(func(t *testing.T, name, place, light, route, share string) {
		p, err := policy.New(name, policy.Options{Place: place, Light: light, Route: route, Share: share})
		if (p == nil) != (err != nil) {
			t.Errorf("New(%q): %v, %v", name, p, err)
		}
	})
}

// TestBlind: a policy that says it reads nothing of what coflows have left decides the same where it is not told, and one
// that reads it does not say so.
func TestBlind(t *testing.T) {
	blind := 0
	for _, name := range names() {
		fresh := func() controller.Policy {
			p, err := policy.New(name, policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if b, ok := fresh().(interface{ Blind() bool }); !ok || !b.Blind() {
			continue
		}
		blind++
		for seed := range uint64(200) {
			v := policytest.View(seed)
			want := text(fresh().Decide(v, nil))
			for i := range v.Coflows {
				v.Coflows[i].Left = southbound.Left{Live: v.Coflows[i].Left.Live}
			}
			if got := text(fresh().Decide(v, nil)); got != want {
				t.Fatalf("%s, view %d: decides\n%s\nwhere it is told what is left\n%s", name, seed, got, want)
			}
		}
	}
	if p, err := policy.New("sebf", policy.Options{}); err != nil || blind < 4 {
		t.Errorf("%d policies are blind, %v", blind, err)
	} else if _, ok := p.(interface{ Blind() bool }); ok {
		t.Error("sebf goes by what is left, and says it does not")
	}
}

// text writes a plan down, rates and all.
func text(p *controller.Plan) string {
	c := *p
	c.Share = nil
	return fmt.Sprintf("%+v %+v", c, p.Share)
}
