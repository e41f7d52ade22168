package gnmi_test

import (
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestTableGoesOnce: the many rules with which a session begins go as one value, and later ones one by one, each in the
// place of what stands there.
func TestTableGoesOnce(t *testing.T) {
	w := gnmi.OpenConfig{Ports: 4, Racks: 100}.NewWriter(nil)
	c := &southbound.Change{}
	for d := range southbound.RackID(100) {
		c.Rules = append(c.Rules, southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag,
			Src: southbound.AnyRack}, Primary: southbound.Port(d % 4), Backup: southbound.NoPort})
	}
	const hops, groups = 8, 4
	for _, want := range []int{hops + groups, 100} {
		req, err := w.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(req.GetReplace()); got != want {
			t.Errorf("%d entries are replaced, want %d", got, want)
		}
		w.Accepted()
	}
}
