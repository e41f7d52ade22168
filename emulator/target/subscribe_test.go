package target_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// open starts a Subscribe that ends with the test.
func open(t *testing.T, c gpb.GNMIClient, list *gpb.SubscriptionList) gpb.GNMI_SubscribeClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s, err := c.Subscribe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func list(t *testing.T, mode gpb.SubscriptionList_Mode, sub gpb.SubscriptionMode,
	paths ...string) *gpb.SubscriptionList {
	l := &gpb.SubscriptionList{Mode: mode, Encoding: gpb.Encoding_JSON_IETF}
	for _, p := range paths {
		l.Subscription = append(l.Subscription, &gpb.Subscription{Path: pathOf(t, p), Mode: sub})
	}
	return l
}

// recv returns the next message as text: "sync", or its deletes and updates.
func recv(t *testing.T, s gpb.GNMI_SubscribeClient) []string {
	t.Helper()
	r, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if r.GetSyncResponse() {
		return []string{"sync"}
	}
	var out []string
	for _, d := range r.GetUpdate().GetDelete() {
		p, err := schema.FromProto(nil, d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, "-"+p.String())
	}
	for _, u := range r.GetUpdate().GetUpdate() {
		p, err := schema.FromProto(nil, u.GetPath())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s=%s", p, u.GetVal().GetJsonIetfVal()))
	}
	return out
}

const oper = "/interfaces/interface[name=Ethernet%d]/state/oper-status"

func TestOnce(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	s := open(t, r.raw(t), list(t, gpb.SubscriptionList_ONCE, 0, fmt.Sprintf(oper, 2),
		"/interfaces/interface[name=*]/state/admin-status"))
	if got, want := recv(t, s), []string{fmt.Sprintf(oper, 2) + `="UP"`}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := recv(t, s); len(got) != 8 {
		t.Errorf("got %v, want eight", got)
	}
	if got := recv(t, s); got[0] != "sync" {
		t.Errorf("got %v, want sync", got)
	}
	if _, err := s.Recv(); err == nil || status.Code(err) != codes.Unknown && err.Error() != "EOF" {
		t.Errorf("the stream goes on: %v", err)
	}
}

func TestPoll(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	s := open(t, r.raw(t), list(t, gpb.SubscriptionList_POLL, 0, fmt.Sprintf(oper, 2)))
	poll := func() {
		t.Helper()
		if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`"UP"`, `"DOWN"`} {
		poll()
		if got := recv(t, s); got[0] != fmt.Sprintf(oper, 2)+"="+want {
			t.Errorf("got %v, want %s", got, want)
		}
		if got := recv(t, s); got[0] != "sync" {
			t.Errorf("got %v, want sync", got)
		}
		r.door.Light(2, false)
		r.await(t, func(s southbound.Seen) bool { return len(s.Down) == 1 })
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); err == nil || err.Error() != "EOF" {
		t.Errorf("after the end: %v", err)
	}
}

// TestPollClose: all polls are answered, one after the other, though the client has closed its half by then.
func TestPollClose(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	for _, updatesOnly := range []bool{false, true} {
		req := list(t, gpb.SubscriptionList_POLL, 0, fmt.Sprintf(oper, 2))
		req.UpdatesOnly = updatesOnly
		s := open(t, r.raw(t), req)
		for range 3 {
			if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.CloseSend(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if !updatesOnly {
				if got := recv(t, s); got[0] != fmt.Sprintf(oper, 2)+`="UP"` {
					t.Errorf("got %v", got)
				}
			}
			if got := recv(t, s); got[0] != "sync" {
				t.Errorf("got %v, want sync; updates only: %v", got, updatesOnly)
			}
		}
		if _, err := s.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("after the last answer: %v", err)
		}
	}
}

// await waits until the device is seen as wanted.
func (r *rig) await(t *testing.T, want func(southbound.Seen) bool) {
	t.Helper()
	tick := time.NewTicker(ms)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		s, err := r.door.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want(s) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the device is %+v", s)
		case <-tick.C:
		}
	}
}

func TestOnChange(t *testing.T) {
	r := newRig(t, device.Optical, nil)
	c := r.raw(t)
	const at = "/connections/port-connection[name=in0-out1]"
	s := open(t, c, list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE,
		"/connections/port-connection[name=*]/state/status", "/connections/port-connection[name=*]/config"))
	if got := recv(t, s); got[0] != "sync" {
		t.Fatalf("got %v, want sync", got)
	}
	drv := r.dial(t, r.config(t))
	if err := drv.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0,
		Out: 1}}}); err != nil {
		t.Fatal(err)
	}
	if got := recv(t, s); len(got) != 3 || !strings.HasPrefix(got[0], at+"/config/") {
		t.Errorf("got %v, want the configuration", got)
	}
	for _, want := range []string{"PENDING_CONNECTION", "CONNECTED"} {
		if got := recv(t, s); !slices.Equal(got, []string{at + `/state/status="` + want + `"`}) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	late := list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_TARGET_DEFINED,
		"/connections/port-connection[name=*]/state/status")
	late.UpdatesOnly = true
	l := open(t, c, late)
	if got := recv(t, l); got[0] != "sync" {
		t.Errorf("updates only, and got %v", got)
	}
	if err := drv.Set(t.Context(), &southbound.Change{Replace: true}); err != nil {
		t.Fatal(err)
	}
	if got := recv(t, s); len(got) != 3 || got[0] != "-"+at+"/config/input-port-name" {
		t.Errorf("got %v, want the configuration's deletes", got)
	}
	for _, x := range []gpb.GNMI_SubscribeClient{s, l} {
		if got := recv(t, x); !slices.Equal(got, []string{at + `/state/status="PENDING_DELETION"`}) {
			t.Errorf("got %v", got)
		}
		if got := recv(t, x); !slices.Equal(got, []string{"-" + at}) {
			t.Errorf("got %v, want the entry's delete", got)
		}
	}
}

const drops = "/components/component[name=sw]/integrated-circuit/pipeline-counters/drop/state/no-route"

func TestSample(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	c := r.raw(t)
	l := list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_SAMPLE, drops)
	l.Subscription[0].SampleInterval = uint64(20 * ms)
	s := open(t, c, l)
	for _, want := range []string{drops + `="0"`, "sync", drops + `="0"`, drops + `="0"`} {
		if got := recv(t, s); got[0] != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	l.Subscription[0].SuppressRedundant = true
	quiet := open(t, c, l)
	recv(t, quiet)
	recv(t, quiet)
	l.Subscription[0].SuppressRedundant = false
	loud := open(t, c, l)
	for range 5 { // what is sampled as often has been sampled several times: quiet has had nothing to say
		recv(t, loud)
	}
	l.Subscription[0].SuppressRedundant = true
	r.plane.Drop(5)
	if got := recv(t, quiet); got[0] != drops+`="5"` {
		t.Errorf("got %v, want the change only", got)
	}
	l.Subscription[0].HeartbeatInterval = uint64(50 * ms)
	beat := open(t, c, l)
	for _, want := range []string{drops + `="5"`, "sync", drops + `="5"`, drops + `="5"`} {
		if got := recv(t, beat); got[0] != want {
			t.Errorf("heartbeat: got %v, want %s", got, want)
		}
	}
	h := list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE, fmt.Sprintf(oper, 1))
	h.Subscription[0].HeartbeatInterval = uint64(30 * ms)
	hb := open(t, c, h)
	up := fmt.Sprintf(oper, 1) + `="UP"`
	for _, want := range []string{up, "sync", up, up} {
		if got := recv(t, hb); got[0] != want {
			t.Errorf("on change with heartbeat: got %v, want %s", got, want)
		}
	}
}

func TestSubscribeRefuses(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	c := r.raw(t)
	stream, change := gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE
	short := list(t, stream, gpb.SubscriptionMode_SAMPLE, drops)
	short.Subscription[0].SampleInterval = 1
	ascii := list(t, stream, change, drops)
	ascii.Encoding = gpb.Encoding_ASCII
	tests := []struct {
		name string
		list *gpb.SubscriptionList
		code codes.Code
	}{
		{"nothing", list(t, stream, change), codes.InvalidArgument},
		{"no list", nil, codes.InvalidArgument},
		{"counter on change", list(t, stream, change, drops), codes.InvalidArgument},
		{"unknown path", list(t, stream, change, "/acl"), codes.Unimplemented},
		{"too often", short, codes.InvalidArgument},
		{"encoding", ascii, codes.Unimplemented},
		{"too many", list(t, stream, change, slices.Repeat([]string{fmt.Sprintf(oper, 1)}, 300)...),
			codes.ResourceExhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, c, tt.list)
			if _, err := s.Recv(); status.Code(err) != tt.code {
				t.Errorf("got %v, want %v", err, tt.code)
			}
		})
	}
	s := open(t, c, list(t, stream, change, fmt.Sprintf(oper, 1)))
	recv(t, s)
	recv(t, s)
	if err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a poll on a stream: %v", err)
	}
}

// TestSlowSubscriber: a subscriber that does not read is cut off, and delays no other.
func TestSlowSubscriber(t *testing.T) {
	r := newRig(t, device.Packet, func(d *device.Config, c *target.Config) {
		d.Delays, c.MaxQueue, c.MaxSubscribers = device.Delays{}, 2000, 2
	})
	c := r.raw(t)
	slow := open(t, c, list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE, policy+"/rules"))
	if got := recv(t, slow); got[0] != "sync" {
		t.Fatalf("got %v", got)
	}
	drv := r.dial(t, r.config(t))
	rules := tor(8)
	for range 100 { // about 100 × 64 rules × 2 leaves, several times what flow control and queue hold
		for i := range rules {
			rules[i].Primary ^= 1
		}
		if err := drv.Set(t.Context(), &southbound.Change{Rules: rules}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	for err == nil {
		_, err = slow.Recv()
	}
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "behind") {
		t.Errorf("got %v, want that it was too far behind", err)
	}
	one := open(t, c, list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE,
		fmt.Sprintf(oper, 1)))
	recv(t, one)
	two := open(t, c, list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE,
		fmt.Sprintf(oper, 1)))
	recv(t, two)
	three := open(t, c, list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE,
		fmt.Sprintf(oper, 1)))
	if _, err := three.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a third subscriber of two: %v", err)
	}
}

// TestSubscribersByCaller: a caller that takes all streams leaves one to another, and goes on with the rest.
func TestSubscribersByCaller(t *testing.T) {
	r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) { c.MaxSubscribers = 3 })
	ask := list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE, fmt.Sprintf(oper, 1))
	greedy := r.raw(t)
	var held []gpb.GNMI_SubscribeClient
	for range 3 {
		held = append(held, open(t, greedy, ask))
		recv(t, held[len(held)-1])
	}
	for i := range 3 {
		other := open(t, r.rawAs(t, fmt.Sprint("c", i)), ask)
		if _, err := other.Recv(); (err != nil) != (i == 2) {
			t.Errorf("caller %d beside one that had all three streams: %v", i, err)
		}
	}
	for i, s := range held[:2] { // the third goes on: that is one for each
		var err error
		for err == nil {
			_, err = s.Recv()
		}
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("stream %d of the caller that had most: %v", i, err)
		}
	}
	if streams, _ := r.target.Lag(); streams != 3 {
		t.Errorf("%d streams are served, want 3", streams)
	}
}

func TestGet(t *testing.T) {
	r := newRig(t, device.Packet, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
	if err := r.dial(t, r.config(t)).Set(t.Context(), &southbound.Change{Rules: tor(1)[:1]}); err != nil {
		t.Fatal(err)
	}
	c := r.raw(t)
	depth := func(n uint32) []*gnmi_ext.Extension {
		return []*gnmi_ext.Extension{{Ext: &gnmi_ext.Extension_Depth{Depth: &gnmi_ext.Depth{Level: n}}}}
	}
	tests := []struct {
		name string
		req  *gpb.GetRequest
		want []string // each a value, in order; nil: anything
		code codes.Code
	}{
		{name: "leaf", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, fmt.Sprintf(oper, 3))}}, want: []string{`"UP"`}},
		{name: "config only", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, policy+"/config")},
			Type: gpb.GetRequest_CONFIG}, want: []string{`{"policy-id":"lightloom","type":"PBR_POLICY"}`}},
		{name: "state of config", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, policy+"/config")},
			Type: gpb.GetRequest_STATE}},
		{name: "depth", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, policy)}, Type: gpb.GetRequest_CONFIG,
			Extension: depth(2)},
			want: []string{`{"config":{"policy-id":"lightloom","type":"PBR_POLICY"},"policy-id":"lightloom"}`}},
		{name: "wildcard", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t,
			"/interfaces/interface[name=*]/state/oper-status")}}, want: slices.Repeat([]string{`"UP"`}, 8)},
		{name: "nothing there", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, fmt.Sprintf(oper, 9))}},
			code: codes.NotFound},
		{name: "unknown", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, "/acl")}}, code: codes.Unimplemented},
		{name: "another version of a model", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, "/")},
			UseModels: []*gpb.ModelData{{Name: "openconfig-interfaces",
				Version: "0.0.1"}}}, code: codes.Unimplemented},

		{name: "encoding", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, "/")}, Encoding: gpb.Encoding_BYTES},
			code: codes.Unimplemented},
		{name: "model", req: &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, "/")},
			UseModels: []*gpb.ModelData{{Name: "openconfig-acl"}}}, code: codes.Unimplemented},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.req.Encoding == gpb.Encoding_JSON {
				tt.req.Encoding = gpb.Encoding_JSON_IETF
			}
			resp, err := c.Get(t.Context(), tt.req)
			if status.Code(err) != tt.code {
				t.Fatalf("got %v, want %v", err, tt.code)
			}
			if tt.code != codes.OK {
				return
			}
			var got []string
			for _, u := range resp.GetNotification()[0].GetUpdate() {
				got = append(got, string(u.GetVal().GetJsonIetfVal()))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	resp, err := c.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, policy+"/rules")},
		Type: gpb.GetRequest_STATE, Encoding: gpb.Encoding_PROTO})
	if err != nil || len(resp.GetNotification()[0].GetUpdate()) != 3 {
		t.Errorf("PROTO: %v, %v; want three leaves", resp, err)
	}
	caps, err := c.Capabilities(t.Context(), &gpb.CapabilityRequest{})
	if err != nil || len(caps.GetSupportedModels()) != 10 || caps.GetGNMIVersion() == "" {
		t.Errorf("capabilities %v, %v", caps, err)
	}
}

// FuzzSet throws requests at a target that has something configured: it must answer, and its configuration must stay
// one that it takes itself.
func FuzzSet(f *testing.F) {
	f.Add(ruleNine, []byte(nine("10.0.2.0/24", "p0-b1")), uint8(0))
	f.Add(policy, []byte(`{"config":{"policy-id":"lightloom","type":"PBR_POLICY"}}`), uint8(1))
	f.Add(instance+"/policy-forwarding/interfaces/interface[interface-id=*]", []byte(nil), uint8(2))
	f.Add(connAt("in3", "out3"), []byte(conn("in3", "out3")), uint8(0))
	f.Add("/connections", []byte(`{}`), uint8(1))
	f.Add("/CONFIG_DB/localhost/OCS_CROSS_CONNECT", []byte(`{"4A-4B":{"a_side":"4A","b_side":"4B"}}`), uint8(1))
	f.Add("/CONFIG_DB/localhost/OCS_CROSS_CONNECT[key=1A-2B]", []byte(`{"a_side":"1A","b_side":"2B"}`), uint8(0))
	f.Add(srlPolicy, []byte(`{"type":"pbr-policy","rule":[`+srlRule(3, toRack1, "169.254.0.1")+`]}`), uint8(1))
	f.Add("/CONFIG_DB/localhost/ACL_TABLE", []byte(aclPorts), uint8(1))
	f.Add("/CONFIG_DB/localhost/ACL_RULE[key=lightloom|r1]",
		[]byte(`{"PRIORITY":"5","DST_IP":"10.0.1.0/24","REDIRECT_ACTION":"169.254.0.1"}`), uint8(0))
	f.Add("/cross-connects/pair[ingress=3]", []byte(`{"ingress":3,"egress":12}`), uint8(0))
	type served struct {
		target *target.Target
		door   *device.Door
	}
	var all []served
	for _, kind := range []device.Kind{device.Packet, device.Optical} {
		r := newRig(f, kind, func(d *device.Config, _ *target.Config) { d.Delays = device.Delays{} })
		all = append(all, served{r.target, r.door})
	}
	r := newRig(f, device.Optical, instant)
	all = append(all, served{r.target, r.door})
	for _, x := range []struct {
		kind device.Kind
		name string
	}{{device.Packet, "srl-native"}, {device.Packet, "sonic"}, {device.Optical, "polatis"}} {
		r := newRig(f, x.kind, func(d *device.Config, c *target.Config) {
			d.Delays, c.Profile, c.Settle = device.Delays{}, x.name, 300*ms
		})
		all = append(all, served{r.target, r.door})
	}
	f.Fuzz(func(t *testing.T, path string, data []byte, op uint8) {
		p, err := schema.Parse(path)
		if err != nil {
			return
		}
		req := &gpb.SetRequest{}
		u := &gpb.Update{Path: p.Proto(), Val: &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: data}}}
		switch op % 3 {
		case 0:
			req.Update = append(req.Update, u)
		case 1:
			req.Replace = append(req.Replace, u)
		default:
			req.Delete = append(req.Delete, u.Path)
		}
		for _, s := range all {
			_, err := s.target.Set(t.Context(), req)
			if code := status.Code(err); code == codes.Unknown || code == codes.DeadlineExceeded {
				t.Fatalf("an error without a code, or no end: %v", err)
			}
			resp, err := s.target.Get(t.Context(),
				&gpb.GetRequest{Path: []*gpb.Path{{}}, Type: gpb.GetRequest_CONFIG,
					Encoding: gpb.Encoding_JSON_IETF})
			if err != nil {
				t.Fatal(err)
			}
			if len(resp.GetNotification()[0].GetUpdate()) == 0 {
				continue // it has none
			}
			whole := &gpb.SetRequest{Replace: []*gpb.Update{{Path: &gpb.Path{},
				Val: resp.GetNotification()[0].GetUpdate()[0].GetVal()}}}
			if _, err := s.target.Set(t.Context(), whole); err != nil {
				t.Fatalf("its own configuration is refused: %v", err)
			}
		}
	})
}
