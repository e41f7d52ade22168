package packets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/emulator/netns"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound"
)

// TestVOQsReported cuts the fibres of all racks while elephants are on their circuits: the report, its
// JSON and a note show the packets that wait at the ToRs.
func TestVOQsReported(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	if err := netns.VOQsSupported(); err != nil {
		if strings.Contains(os.Getenv("LIGHTLOOM_MUST"), "bpf") {
			t.Fatalf("LIGHTLOOM_MUST names bpf: %v", err)
		}
		t.Skipf("needs bpf: %v", err)
	}
	var cuts strings.Builder
	for r := range 4 {
		fmt.Fprintf(&cuts, "400ms fail link tor%d-ocs\n700ms heal link tor%d-ocs\n", r, r)
	}
	s := labtest.WithFaults(t, "hybrid:racks=4,hosts=1,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms,nic=500Mbps",
		"random+ecmp+sunflow", cuts.String(), func(o *scenario.Options) {
			o.On, o.Coflows, o.Replicas, o.Net.Dataplane, o.Net.VOQBytes = scenario.OnNetns, 1, 1, "ebpf", 1<<20
		})
	s.Jobs = nil
	for r := range southbound.HostID(4) {
		s.Jobs = append(s.Jobs, controller.Job{Name: fmt.Sprint("elephant", r),
			Edges: []controller.Edge{{Flows: []controller.Flow{{Src: r, Dst: (r + 1) % 4, Bytes: 20e6}}}}})
	}
	o, err := labtest.Enter(context.Background(), s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckPackets(t, s, o)
	p := labtest.Figures(s, o)
	d := p.VOQs
	if d == nil || d.Limit != 1<<20 || d.Queued == 0 || d.Most == 0 || d.Most > d.Limit {
		t.Fatalf("the report says of VOQs %+v, want packets that waited within 1 MiB", d)
	}
	text, err := json.Marshal(*p)
	if want := fmt.Sprintf(`"voqs":{"bytes_limit":1048576,"packets_queued":%d,"packets_dropped":%d,`+
		`"bytes_most":%d}`, d.Queued, d.Dropped, d.Most); err != nil || !bytes.Contains(text, []byte(want)) {
		t.Errorf("the report does not hold %s: %v", want, err)
	}
	if want := fmt.Sprintf("%d packets waited at ToRs for their circuit's light",
		d.Queued); !strings.Contains(strings.Join(p.Notes, "\n"), want) {
		t.Errorf("the notes do not say %q: %q", want, p.Notes)
	}
}
