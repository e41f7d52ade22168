package gnmi_test

import (
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestTableAsOneValue: many rules go as one update, after what stands in the place of each is deleted; few are replaced
// one by one.
func TestTableAsOneValue(t *testing.T) {
	w := gnmi.OpenConfig{Ports: 4, Racks: 100}.NewWriter(nil)
	c := &southbound.Change{}
	for d := range southbound.RackID(100) {
		c.Rules = append(c.Rules, southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag,
			Src: southbound.AnyRack}, Primary: southbound.Port(d % 4), Backup: southbound.NoPort})
	}
	const hops, groups, ports = 8, 4, 4
	for i, want := range [][3]int{{100, hops + groups, 1 + ports + 1}, {100, 0, 1}, {0, 64, 0}} {
		if i == 2 {
			c.Rules = c.Rules[:64]
		}
		req, err := w.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{len(req.GetDelete()), len(req.GetReplace()), len(req.GetUpdate())}; got != want {
			t.Errorf("request %d has %v deletes, replaces and updates, want %v", i, got, want)
		}
		w.Accepted()
	}
}
