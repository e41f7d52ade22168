package northbound_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/server"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/southbound/pki"
)

// alone is a replica that does nothing but wire.
type alone struct {
	api.Submitter
	api.Stater
}

func (alone) Leader() (string, string, uint64) { return "r0", "", 1 }

// background runs something until the test ends.
func background(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// desk is a controller that wires testbeds through an optical switch, and an authority for its clients.
type desk struct {
	ca   *pki.Authority
	addr string
	lab  server.LabWiring
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	ocs, ln, dir := listen(t), listen(t), t.TempDir()
	background(t, func(ctx context.Context) error {
		return targetd.Run(ctx, ocs, targetd.Config{Profile: "ocp", Config: device.Config{Name: "ocs", Ports: 8,
			Delays: device.Delays{Dark: device.Fixed(time.Millisecond)}}})
	})
	d := &desk{addr: ln.Addr().String(), lab: server.LabWiring{Switches: filepath.Join(dir, "lab.yaml"),
		Book: filepath.Join(dir, "leases.json")}}
	text := fmt.Sprintf("devices:\n  - {name: ocs, address: '%s', profile: ocp, ports: 8, tls: {plaintext: true}}\n",
		ocs.Addr())
	if err := os.WriteFile(d.lab.Switches, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.ca, err = pki.New(time.Hour); err != nil {
		t.Fatal(err)
	}
	id := d.issue(t, pki.Controller, "r0")
	s, err := api.NewServer(api.Config{ID: "r0", Listener: ln, ServerTLS: id.Server(pki.Client, pki.Controller),
		ClientTLS: id.Client("", pki.Controller), Submitter: alone{}, Stater: alone{}, Finder: alone{},
		Resources: api.Resources{Wirer: d.lab},
		Callers:   api.Callers{Admins: []string{"ann", "bob"}}})
	if err != nil {
		t.Fatal(err)
	}
	background(t, s.Run)
	return d
}

func (d *desk) issue(t *testing.T, role pki.Role, name string) pki.Identity {
	t.Helper()
	id, err := d.ca.Issue(role, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// post calls as any program can: JSON over HTTPS, with a client certificate.
func (d *desk) post(t *testing.T, who, call string, body any) (status int, answer map[string]any) {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: d.issue(t, pki.Client, who).Client("localhost", pki.Controller)}
	defer tr.CloseIdleConnections()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: tr}).Post("https://"+d.addr+"/lightloom.v1.Controller/"+call,
		"application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

const (
	first  = "testbed: t0\nswitch: ocs\nports: {a: {p: 0}, b: {p: 1}}\nlinks: [{from: a p, to: b p}]\n"
	second = "testbed: t1\nswitch: ocs\nports: {c: {p: 1}, d: {p: 2}}\nlinks: [{from: c p, to: d p}]\n"
)

// TestWiringByJSON: a program that knows no Go wires testbeds, as their owners do through a day.
func TestWiringByJSON(t *testing.T) {
	d := newDesk(t)
	type ask = map[string]any
	for i, step := range []struct {
		who, call string
		ask       ask
		status    int
		says      []string // of the answer as text
		not       string
	}{
		{"ann", "CheckWiring", ask{"what": "plan", "links": first}, 200, []string{`"steps":[`, `"action":"wire"`}, ""},
		{"ann", "CheckWiring", ask{"what": "verify", "links": first}, 200, []string{"there is no such circuit"}, ""},
		{"ann", "Wire", ask{"what": "apply", "links": first, "lifeNs": "3600000000000"}, 200, []string{`"until"`, `"steps"`},
			"findings"},
		{"ann", "Wire", ask{"what": "apply", "links": first}, 200, []string{`"until"`}, "steps"},
		{"ann", "CheckWiring", ask{"what": "verify", "links": first}, 200, nil, "findings"},
		{"bob", "Wire", ask{"what": "apply", "links": second}, 409, []string{`held by ann until`}, ""},
		{"bob", "Wire", ask{"what": "apply", "links": second, "queue": true}, 409, []string{"waits for it"}, ""},
		{"bob", "ListLeases", ask{}, 200, []string{`"holder":"ann"`, `"waiting":[`}, ""},
		{"bob", "Wire", ask{"what": "release", "switch": "ocs", "testbed": "t0"}, 409, []string{`"ann" holds it`}, ""},
		{"ann", "Wire", ask{"what": "extend", "switch": "ocs", "testbed": "t0", "lifeNs": "7200000000000"}, 200, nil, ""},
		{"ann", "Wire", ask{"what": "hand-over", "switch": "ocs", "testbed": "t0", "to": "bob"}, 200, nil, ""},
		{"bob", "Wire", ask{"what": "release", "switch": "ocs", "testbed": "t0"}, 200, []string{`"remove"`}, ""},
		{"bob", "Wire", ask{"what": "apply", "links": second}, 200, []string{`"steps"`}, "findings"},
		{"ann", "Wire", ask{"what": "apply", "links": "links: ["}, 400, []string{"links:1"}, ""},
		{"ann", "Wire", ask{"what": "apply", "links": strings.Replace(first, "ocs", "osc", 1)}, 404, []string{"osc"}, ""},
		{"ann", "Wire", ask{"what": "extend", "switch": "ocs", "testbed": "t9", "lifeNs": "1"}, 404, []string{"no lease"},
			""},
	} {
		status, answer := d.post(t, step.who, step.call, step.ask)
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if status != step.status || step.not != "" && answer[step.not] != nil {
			t.Errorf("%d: status %d, want %d: %s", i, status, step.status, text)
		}
		for _, says := range step.says {
			if !strings.Contains(strings.ReplaceAll(string(text), `\"`, `"`), says) {
				t.Errorf("%d: %s, want %s", i, text, says)
			}
		}
	}
	log, err := os.ReadFile(d.lab.Book + ".log")
	if err != nil || !strings.Contains(string(log), `"user":"client/ann"`) ||
		!strings.Contains(string(log), `"what":"wire"`) {
		t.Errorf("the audit log has %s, %v", log, err)
	}
}

// TestWiringByClient: our own client does the same.
func TestWiringByClient(t *testing.T) {
	d := newDesk(t)
	c, err := api.Dial([]string{d.addr}, d.issue(t, pki.Client, "ann").Client("", pki.Controller))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Wiring(t.Context(), &apiv1.WiringRequest{What: api.WireApply, Links: first})
	if err != nil || len(got.GetSteps()) != 1 || len(got.GetSteps()[0].GetConnect()) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	leases, err := c.Leases(t.Context())
	if err != nil || len(leases.GetLeases()) != 1 || leases.GetLeases()[0].GetTestbed() != "t0" {
		t.Errorf("%v, %v", leases, err)
	}
	if _, err := c.Wiring(t.Context(), &apiv1.WiringRequest{What: api.WireVerify}); api.CodeOf(err) != api.Invalid {
		t.Error(err)
	}
}
