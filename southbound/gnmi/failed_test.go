package gnmi_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestFailedSet: what a Set that failed would have written is written by the next one, the forwarding
// policy and what it names too, though a change of nothing came between.
func TestFailedSet(t *testing.T) {
	for _, p := range []gnmi.Profile{gnmi.SRLinux{Ports: 4, Racks: 4, ControllerBackup: true},
		gnmi.OpenConfig{Ports: 4, Racks: 4}, gnmi.OpenConfigPlain{Ports: 4,
			Racks: 4}, gnmi.SONiC{Ports: 4, Racks: 4}} {
		w := p.NewWriter(nil)
		c := &southbound.Change{Rules: []southbound.Rule{{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag,
			Src: southbound.AnyRack}, Primary: 2, Backup: southbound.NoPort}}}
		first, err := w.Encode(c) // and it fails
		if err != nil {
			t.Fatalf("%s: %v", p.Name(), err)
		}
		none, err := w.Encode(&southbound.Change{})
		if err != nil || len(none.Update)+len(none.Replace)+len(none.Delete) > 0 {
			t.Fatalf("%s: a change of nothing: %v, %v", p.Name(), none, err)
		}
		w.Accepted()
		again, err := w.Encode(c)
		if err != nil || !proto.Equal(first, again) {
			t.Errorf("%s: the first wrote\n%v\nthe next writes\n%v\n%v", p.Name(), first, again, err)
		}
	}
}
