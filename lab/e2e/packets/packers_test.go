package packets

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestPackersOnPackets runs jobs that read from each other on real packets, under each policy for them:
// all end, no job begins before those that it reads from have ended, and each byte arrives once.
func TestPackersOnPackets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ policy, bytes string }{{"dawn+ecmp+sunflow", "10MB"}, {"pushbox+ecmp", "2MB"},
		{"hadoop+ecmp", "2MB"}, {"shufflewatcher+ecmp", "2MB"}, {"neat+ecmp", "2MB"}} {
		t.Run(tt.policy, func(t *testing.T) {
			labtest.ShareNetns(t, "netns", false)
			s, err := scenario.Prepare(scenario.Options{Workload: fmt.Sprintf("dag:bytes=%s-%[1]s,maps=3,reduces=2", tt.bytes),
				Fabric:   "hybrid:racks=3,hosts=2,spines=2,eps=10Mbps,ocs=200Mbps,dark=1ms,slots=4",
				Policies: []string{tt.policy}, Seed: 5, Speedup: 1, Replicas: 1, On: scenario.OnNetns}, 1)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckPackets(t, s, o)
			checkParents(t, o.State)
			if strings.HasSuffix(tt.policy, "sunflow") && o.OCS == 0 {
				t.Error("nothing went over circuits")
			}
			t.Logf("%d jobs in %v, %d bytes over circuits, %d over packets", len(o.State.Jobs),
				o.End, o.OCS, o.EPS)
		})
	}
}

// checkParents checks that jobs read from others, and began no earlier than those had ended.
func checkParents(t *testing.T, d *state.Data) {
	t.Helper()
	read := 0
	for _, j := range d.Jobs {
		for k, e := range j.Edges {
			if e.Reads == nil || e.Reads.Job == "" {
				continue
			}
			for _, p := range d.Jobs {
				if c := d.Coflows[int(j.FirstCoflow)+k]; p.Name == e.Reads.Job && c.Bytes+c.Local > 0 {
					read++
					if c.Started < p.Ended {
						t.Errorf("%s reads at %v what %s writes until %v", j.Name, c.Started, p.Name, p.Ended)
					}
				}
			}
		}
	}
	if read == 0 {
		t.Error("no job has read from another")
	}
}
