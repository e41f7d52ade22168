package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/demand"
	"lightloom/controller/replica"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// TestPoisonousBatch: a replica refuses a call of three jobs of 2^20 flows, which an entry of the log
// does not hold, soon after it has come, and goes on; also with no switch and no agent that answers.
func TestPoisonousBatch(t *testing.T) {
	t.Parallel()
	ca, err := pki.New(time.Hour)
	must(t, err)
	id, err := ca.Issue(pki.Controller, "controller0")
	must(t, err)
	pem, err := id.MarshalPEM()
	must(t, err)
	var at [3]string
	for i := range at {
		addr, release, err := socket.Hold()
		must(t, err)
		t.Cleanup(func() { must(t, release()) })
		at[i] = addr.String()
	}
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=4")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	c := ReplicaConfig{ID: "controller0", Peers: []replica.Peer{{ID: "controller0", Addr: at[0]}},
		API: map[string]string{"controller0": at[1]}, Dir: t.TempDir(), Epoch: time.Now(), Spec: spec, Policy: "random+ecmp",
		Demand: demand.Options{}, Agent: at[2],
		Identity: IdentityConfig{PEM: pem, Admins: []string{"user"}}}
	for _, n := range f.Topology.Nodes() {
		if n.Role != pathmap.Host {
			c.Devices = append(c.Devices, inventory.Device{Name: n.Name, Address: at[2]})
		}
	}
	p, err := newReplicaProcess(c, &home{dir: c.Dir}, io.Discard)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.run(ctx) }()
	user, err := ca.Issue(pki.Client, "user")
	must(t, err)
	client, err := api.Dial([]string{at[1]}, user.Client("", pki.Controller))
	must(t, err)
	defer client.Close()

	small := &controller.Job{Name: "small",
		Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1}}}}}
	if _, err := client.Submit(ctx, "before", []*controller.Job{small}); err != nil {
		t.Fatal(err)
	}
	flows := slices.Repeat([]*apiv1.Flow{{Src: 0, Dst: 1, Bytes: 1}}, controller.MaxFlows)
	large := &apiv1.Job{Name: "large", Edges: []*apiv1.Edge{{Flows: flows}}}
	body, err := proto.Marshal(&apiv1.SubmitJobsRequest{RequestId: "poison",
		Jobs: []*apiv1.Job{large, large, large}})
	must(t, err)
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: user.Client("", pki.Controller),
		ForceAttemptHTTP2: true}}
	defer browser.CloseIdleConnections()
	began := time.Now()
	resp, err := browser.Post("https://"+at[1]+apiv1connect.ControllerSubmitJobsProcedure, "application/proto",
		bytes.NewReader(body))
	must(t, err)
	text, err := io.ReadAll(resp.Body)
	must(t, errors.Join(err, resp.Body.Close()))
	t.Logf("%d bytes are refused after %v: %s", len(body), time.Since(began).Round(time.Millisecond), text)
	if resp.StatusCode != api.TooLarge.HTTPStatus() || !strings.Contains(string(text), "3145728 flows") {
		t.Errorf("status %d: %s", resp.StatusCode, text)
	}
	if _, err := client.Submit(ctx, "after", []*controller.Job{small}); err != nil {
		t.Error(err)
	}
	claims, err := client.Claims(ctx)
	if err != nil || len(claims) != len(c.Devices) {
		t.Errorf("%d claims of %d devices: %v", len(claims), len(c.Devices), err)
	}
	for _, x := range claims {
		if x.State != "unclaimed" {
			t.Errorf("%+v: nobody is there", x)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("the replica has ended: %v", err)
	default:
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
