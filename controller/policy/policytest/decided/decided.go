// Package decided holds what parts of policies decide against what they decided when that was last
// written down. It does not say which decision is right: a change that alters any shows which part it
// alters, and is looked at.
package decided

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"
	"os"
	"strings"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/southbound"
)

// Part is what every part of a policy does.
type Part interface {
	Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
}

// Digest is of plans, one after another.
type Digest struct{ h hash.Hash }

// New returns an empty digest.
func New() *Digest { return &Digest{sha256.New()} }

// Add takes a plan in.
func (d *Digest) Add(p *controller.Plan) {
	c := *p
	c.Share = nil
	fmt.Fprintf(d.h, "%+v %+v\n", c, ratesOf(p.Share))
}

// rates are southbound.Rates without Even, whose spreads are among the others.
type rates struct {
	Fair     bool
	Pace     []southbound.Pace
	Spread   []southbound.Spread
	Extra    []southbound.Extra
	Pairs    []southbound.PairRate
	Priority []southbound.Priority
}

func ratesOf(r *southbound.Rates) *rates {
	if r == nil {
		return nil
	}
	return &rates{r.Fair, r.Pace, r.Spreads(), r.Extra, r.Pairs, r.Priority}
}

// String is short.
func (d *Digest) String() string { return fmt.Sprintf("%x", d.h.Sum(nil)[:4]) }

// Views has fresh parts decide on random views, and returns a digest of each dozen of them.
func Views(view func(seed uint64) *controller.View, fresh func() Part) string {
	var out []string
	for from := range uint64(8) {
		d := New()
		for seed := from * 12; seed < from*12+12; seed++ {
			p := controller.Plan{Wake: math.MaxInt64}
			v := view(seed)
			before := policytest.Hash(v)
			fresh().Fill(v, nil, &p)
			if policytest.Hash(v) != before {
				panic(fmt.Sprintf("decided: view %d: Fill wrote to the view", seed))
			}
			d.Add(&p)
		}
		out = append(out, d.String())
	}
	return strings.Join(out, " ")
}

// Compare holds lines against those of a file, which update writes anew.
func Compare(t policytest.Reporter, file string, update bool, got []string) {
	t.Helper()
	text := strings.Join(got, "\n") + "\n"
	if update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if string(want) == text {
		return
	}
	was := strings.Split(string(want), "\n")
	for i, line := range got {
		if i >= len(was) || was[i] != line {
			t.Fatalf("%s, line %d: decided now\n%s\nand when it was written\n%s\nIf that is wanted, run the test with -update.",
				file, i+1, line, strings.Join(was[min(i, len(was)):min(i+1, len(was))], ""))
		}
	}
	t.Fatalf("%s has %d lines, %d are decided now", file, len(was)-1, len(got))
}
