package target_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

func instant(d *device.Config, c *target.Config) {
	d.Delays = device.Delays{}
	withSONiC(d, c)
}

// TestTwoViews changes circuits now through one model and now through the other: both always say the same, and it is
// what a plain map says.
func TestTwoViews(t *testing.T) {
	r := newRig(t, device.Optical, instant)
	profiles := []gnmi.Profile{gnmi.OCP{Ports: 8}, gnmi.SONiCOCS{Ports: 8}}
	open := func(p gnmi.Profile) *gnmi.Session {
		cfg := r.config(t)
		cfg.Profile = p
		return r.dial(t, cfg)
	}
	readers := []*gnmi.Session{open(profiles[0]), open(profiles[1])}
	rnd := rand.New(rand.NewPCG(3, 9))
	reference := map[southbound.Port]southbound.Port{}
	for step := range 40 {
		c := &southbound.Change{Replace: rnd.IntN(6) == 0}
		ins, outs := rnd.Perm(8), rnd.Perm(8)
		for i := range rnd.IntN(5) {
			x := southbound.CrossConnect{In: southbound.Port(ins[i]), Out: southbound.Port(outs[i]),
				Off: rnd.IntN(4) == 0}
			c.Connect = append(c.Connect, x)
		}
		writer := open(profiles[rnd.IntN(2)]) // a new one: the other model may have been written to
		if err := writer.Set(t.Context(), c); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		apply(reference, c)
		for i, s := range readers {
			seen, err := s.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(seen.Connections) != len(reference) {
				t.Fatalf("step %d: %s says %+v, want %v", step, profiles[i].Name(), seen.Connections, reference)
			}
			for _, x := range seen.Connections {
				if out, ok := reference[x.In]; !ok || out != x.Out || x.Status != southbound.Connected {
					t.Fatalf("step %d: %s says %+v, want %v", step, profiles[i].Name(), seen.Connections, reference)
				}
			}
		}
	}
}

func apply(reference map[southbound.Port]southbound.Port, c *southbound.Change) {
	if c.Replace {
		clear(reference)
	}
	for _, x := range c.Connect {
		delete(reference, x.In)
		for in, out := range reference {
			if !x.Off && out == x.Out {
				delete(reference, in)
			}
		}
	}
	for _, x := range c.Connect {
		if !x.Off {
			reference[x.In] = x.Out
		}
	}
}

// TestSONiCRowsGo: once a circuit is gone nothing of it is left in the tables, neither as configured nor as it is.
func TestSONiCRowsGo(t *testing.T) {
	r := newRig(t, device.Optical, instant)
	s, client := r.dial(t, r.config(t)), r.raw(t)
	rows := func() (out []string) {
		t.Helper()
		resp, err := client.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, "/")},
			Encoding: gpb.Encoding_JSON_IETF})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range resp.GetNotification()[0].GetUpdate() {
			out = append(out, regexp.MustCompile(`"\d+A-\d+B"`).FindAllString(string(u.GetVal().GetJsonIetfVal()), -1)...)
		}
		slices.Sort(out)
		return out
	}
	for _, step := range []struct {
		connect southbound.CrossConnect
		want    []string // a row in each table
	}{
		{southbound.CrossConnect{In: 0, Out: 1}, []string{`"1A-2B"`, `"1A-2B"`}},
		{southbound.CrossConnect{In: 2, Out: 1}, []string{`"3A-2B"`, `"3A-2B"`}},
		{southbound.CrossConnect{In: 2, Out: 5}, []string{`"3A-6B"`, `"3A-6B"`}},
		{southbound.CrossConnect{In: 2, Off: true}, nil},
	} {
		if err := s.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{step.connect}}); err != nil {
			t.Fatal(err)
		}
		if got := rows(); !slices.Equal(got, step.want) {
			t.Errorf("after %+v the tables have the rows %v, want %v", step.connect, got, step.want)
		}
	}
}

// TestSONiCCodes sends what is wrong to the tables, and wants its code and nothing changed.
func TestSONiCCodes(t *testing.T) {
	r := newRig(t, device.Optical, instant)
	m := gnmi.SONiCOCS{Ports: 8}.Model()
	at := func(s string) *gpb.Path {
		p, err := schema.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return m.Proto(p)
	}
	const table = "/CONFIG_DB/localhost/OCS_CROSS_CONNECT"
	s := r.dial(t, r.config(t))
	if err := s.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0,
		Out: 1}}}); err != nil {
		t.Fatal(err)
	}
	client := r.raw(t)
	for _, tt := range []struct {
		name, path, value string
		want              codes.Code
	}{
		{"another key", table, `{"x":{"a_side":"3A","b_side":"4B"}}`, codes.Aborted},
		{"one side", table, `{"3A-4B":{"a_side":"3A"}}`, codes.Aborted},
		{"sides turned round", table, `{"3B-4A":{"a_side":"3B","b_side":"4A"}}`, codes.Aborted},
		{"port out of range", table, `{"9A-4B":{"a_side":"9A","b_side":"4B"}}`, codes.Aborted},
		{"port zero", table, `{"0A-4B":{"a_side":"0A","b_side":"4B"}}`, codes.Aborted},
		{"busy output", table, `{"3A-2B":{"a_side":"3A","b_side":"2B"}}`, codes.Aborted},
		{"wrapped", table, `{"OCS_CROSS_CONNECT":{}}`, codes.InvalidArgument},
		{"a list", table, `[]`, codes.InvalidArgument},
		{"state", "/STATE_DB/localhost/OCS_CROSS_CONNECT_TABLE[key=1A-2B]/status", `"enabled"`, codes.InvalidArgument},
		{"blocked port", "/CONFIG_DB/localhost/OCS_PORT[key=1A]/config_status", `"force_blocked"`, codes.Unimplemented},
		{"unknown port", "/CONFIG_DB/localhost/OCS_PORT[key=9A]/label", `"x"`, codes.Aborted},
	} {
		u := &gpb.Update{Path: at(tt.path), Val: &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(
			tt.value)}}}
		if _, err := client.Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{u}}); status.Code(err) != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		seen, err := s.Read(t.Context())
		if want := []southbound.Connection{{In: 0, Out: 1, Status: southbound.Connected}}; err != nil ||
			!slices.Equal(seen.Connections, want) {
			t.Fatalf("%s: afterwards %+v, %v", tt.name, seen.Connections, err)
		}
	}
	both := &gpb.SetRequest{
		Delete: []*gpb.Path{at(table)},
		Update: []*gpb.Update{upd(t, connAt("in2", "out2"), conn("in2", "out2"))},
	}
	if _, err := client.Set(t.Context(), both); status.Code(err) != codes.Unimplemented {
		t.Errorf("both models in one request: %v", err)
	}
	label := &gpb.Update{Path: at("/CONFIG_DB/localhost/OCS_PORT[key=1A]/label"),
		Val: &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(`"to tor3"`)}}}
	if _, err := client.Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{label}}); err != nil {
		t.Error(err)
	}
}
