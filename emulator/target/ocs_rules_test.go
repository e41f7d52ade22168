package target_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/wiring"
)

// faulty is a target that answers falsely: see changes the values that it sends, by their path without keys and
// modules, and set is done in the place of its Set.
type faulty struct {
	*target.Target
	see func(path string, v any) (any, bool) // false: it is left out
	set func(ctx context.Context, req *gpb.SetRequest, next setter) (*gpb.SetResponse, error)
	say func(*gpb.Notification) bool // whether a subscriber gets it
	off atomic.Bool                  // Capabilities fail
}

// Capabilities implements gNMI.
func (f *faulty) Capabilities(ctx context.Context, req *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	if f.off.Load() {
		return nil, status.Error(codes.Unavailable, "the service does not run")
	}
	return f.Target.Capabilities(ctx, req)
}

type setter func(context.Context, *gpb.SetRequest) (*gpb.SetResponse, error)

func (f *faulty) Set(ctx context.Context, req *gpb.SetRequest) (*gpb.SetResponse, error) {
	if f.set == nil {
		return f.Target.Set(ctx, req)
	}
	return f.set(ctx, req, f.Target.Set)
}

func (f *faulty) Get(ctx context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	resp, err := f.Target.Get(ctx, req)
	if f.see == nil || err != nil {
		return resp, err
	}
	for _, n := range resp.GetNotification() {
		for _, u := range n.GetUpdate() {
			var v any
			if err := json.Unmarshal(u.GetVal().GetJsonIetfVal(), &v); err != nil {
				return nil, err
			}
			var names []string
			for _, e := range slices.Concat(n.GetPrefix().GetElem(), u.GetPath().GetElem()) {
				names = append(names, e.GetName())
			}
			text, err := json.Marshal(f.walk(names, v))
			if err != nil {
				return nil, err
			}
			u.Val = &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: text}}
		}
	}
	return resp, nil
}

func (f *faulty) walk(names []string, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = f.walk(names, v[i])
		}
		return v
	case map[string]any:
		for key, inner := range v {
			_, bare, found := strings.Cut(key, ":")
			if !found {
				bare = key
			}
			at := append(slices.Clone(names), bare)
			if seen, keep := f.see(strings.Join(at, "/"), inner); keep {
				v[key] = f.walk(at, seen)
			} else {
				delete(v, key)
			}
		}
		return v
	}
	return v
}

// Subscribe implements gNMI.
func (f *faulty) Subscribe(s gpb.GNMI_SubscribeServer) error {
	return f.Target.Subscribe(&faultyStream{s, f.say})
}

type faultyStream struct {
	gpb.GNMI_SubscribeServer
	say func(*gpb.Notification) bool
}

func (s *faultyStream) Send(m *gpb.SubscribeResponse) error {
	if n := m.GetUpdate(); n != nil && s.say != nil && !s.say(n) {
		return nil
	}
	return s.GNMI_SubscribeServer.Send(m)
}

// checked runs rules against a target, and returns the findings by rule.
func checked(t *testing.T, f *faulty, p gnmi.Profile, restart func(context.Context, bool) error,
	only ...string) map[string]conformance.Finding {
	t.Helper()
	return checkedIn(t, f, p, conformance.Options{Restart: restart, Only: only})
}

// checkedIn is checked with what stands around the switch.
func checkedIn(t *testing.T, f *faulty, p gnmi.Profile, o conformance.Options) map[string]conformance.Finding {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	gpb.RegisterGNMIServer(s, f)
	stop := background(t, func(context.Context) error { return s.Serve(l) })
	defer stop()
	defer s.Stop()
	conn, err := gnmi.Connect(gnmi.Config{Name: "sw", Addr: l.Addr().String(), Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	out := map[string]conformance.Finding{}
	o.Write, o.Timeout = true, cmp.Or(o.Timeout, 2*time.Second)
	for _, x := range conformance.Run(t.Context(), conn, p, 8, o) {
		out[x.Rule] = x
	}
	return out
}

// swallow says of requests that speak of a path that they were done, and does nothing.
func swallow(word string) func(context.Context, *gpb.SetRequest, setter) (*gpb.SetResponse, error) {
	return func(ctx context.Context, req *gpb.SetRequest, next setter) (*gpb.SetResponse, error) {
		if strings.Contains(fmt.Sprint(req), word) {
			return &gpb.SetResponse{}, nil
		}
		return next(ctx, req)
	}
}

// drop leaves a path out, and put gives it another value.
func drop(path string) func(string, any) (any, bool) {
	return func(at string, v any) (any, bool) { return v, at != path }
}

func put(path string, value any) func(string, any) (any, bool) {
	return func(at string, v any) (any, bool) {
		if at == path {
			return value, true
		}
		return v, true
	}
}

// restart restarts the switch.
func (r *wired) restart(_ context.Context, warm bool) (err error) {
	r.door.Do(func(now time.Duration, d *device.Device) {
		if warm && d.Config().Recovery != device.Maintain {
			err = southbound.ErrUnsupported
			return
		}
		d.Restart(now, 20*ms)
	})
	return err
}

// TestRestartRules: each mode of recovery keeps the rules about restarts, and each fault of one is found.
func TestRestartRules(t *testing.T) {
	t.Parallel()
	const conns = "connections/port-connection"
	recovery := func(mode device.Recovery) func(*device.Config, *target.Config) {
		return func(d *device.Config, _ *target.Config) { d.Recovery = mode }
	}
	for name, tt := range map[string]struct {
		mode  device.Recovery
		rule  string
		fault *faulty
		want  conformance.Result
	}{
		"maintain warm":             {device.Maintain, "O17", &faulty{}, conformance.Held},
		"maintain cold":             {device.Maintain, "O18", &faulty{}, conformance.Held},
		"restore cold":              {device.Restore, "O18", &faulty{}, conformance.Held},
		"restore warm":              {device.Restore, "O17", &faulty{}, conformance.Skipped},
		"remove cold":               {device.Remove, "O18", &faulty{}, conformance.Held},
		"a configuration is lost":   {device.Maintain, "O17", &faulty{see: drop(conns + "/config")}, conformance.Broken},
		"removes, and says restore": {device.Remove, "O18", &faulty{see: claims("RESTORE")}, conformance.Broken},
		"keeps, and says remove":    {device.Maintain, "O18", &faulty{see: claims("REMOVE")}, conformance.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWired(t, "ocp", 8, recovery(tt.mode))
			f := tt.fault
			f.Target = r.target
			if got := checked(t, f, r.profile, r.restart, tt.rule)[tt.rule]; got.Result != tt.want {
				t.Errorf("%+v, want %s", got, tt.want)
			}
		})
	}
}

// claims says another recovery than the switch has.
func claims(mode string) func(string, any) (any, bool) {
	return put("optical-switch/state/cold-boot-recovery", mode)
}

// TestPublishedRules: our own targets keep the published rules for optical switches, and each rule that can be tried
// finds the fault of a target that breaks it.
func TestPublishedRules(t *testing.T) {
	t.Parallel()
	const conns, port = "connections/port-connection/", "components/component/ocp-ocs-port/state/"
	var reads atomic.Int32
	statuses := func(words ...string) func(*gpb.Notification) bool {
		return func(n *gpb.Notification) bool {
			text := fmt.Sprint(n)
			return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
		}
	}
	for rule, tt := range map[string]struct {
		fault  *faulty
		stands *southbound.Change                      // before, and whether a new one is spoilt
		change func(*device.Config, *target.Config)    // of the switch
		then   func(d *device.Device, n time.Duration) // once these stand
	}{
		"O1": {fault: &faulty{see: drop("optical-switch/state/cold-boot-recovery")}},
		"O2": {fault: &faulty{see: put("optical-switch/state/bidirectional", true)}},
		"O3": {fault: &faulty{set: swallow("cold-boot-recovery")}},
		"O4": {fault: &faulty{set: swallow("lightloom check direction")}},
		"O5": {fault: &faulty{see: put(port+"group", "elsewhere")}},
		"O6": {fault: &faulty{see: func(at string, v any) (any, bool) {
			if at == "optical-switch/state/port-groups/name" {
				return fmt.Sprint(v, reads.Add(1)), true
			}
			return v, true
		}}},
		"O7":  {fault: &faulty{see: put(conns+"state/name", "another")}},
		"O8":  {fault: &faulty{see: put("connections/last-change-time", "2026-11-29T12:00:00Z")}},
		"O9":  {fault: &faulty{say: statuses("PENDING_CONNECTION", "PENDING_DELETION")}},
		"O10": {fault: &faulty{see: drop(conns + "state/status-reason")}, stands: crossed(0, 0)},
		"O11": {fault: &faulty{see: drop(conns + "config")}, stands: crossed(0, 0)},
		"O12": {fault: &faulty{set: swallow("peer")}},
		"O13": {fault: &faulty{see: put(port+"connection/peer", "in0")}},
		"O14": {fault: &faulty{see: put(port+"status", "TUNED")}},
		"O15": {fault: &faulty{see: put(port+"connection/counters/total-error-count", "7")}},
		"O16": {fault: &faulty{see: put(port+"connection/counters/total-error-count", "7")}},
		"O20": {fault: &faulty{set: piecemeal}},
		"O21": {fault: &faulty{set: anew}},
		"O22": {change: func(d *device.Config, _ *target.Config) { d.AllStop = true }},
		"O23": {fault: &faulty{set: createFirst}},
		"O24": {fault: &faulty{see: put(port+"status", "TUNED")}},
		"O25": {fault: &faulty{see: put("optical-switch/state/connection-recovery-capability", "SOMETIMES")}},
		"S1":  {then: func(d *device.Device, _ time.Duration) { d.Fault(device.Fault{Kind: device.Stick, Port: 6}) }},
		"S2": {stands: crossed(0, 0), then: func(d *device.Device, now time.Duration) {
			d.Forget(now, southbound.NoPort)
		}},
		"S3": {fault: &faulty{see: func(at string, v any) (any, bool) {
			if strings.HasSuffix(at, "target_simplex_port_id") {
				return "9B", true
			}
			return v, true
		}}},
		"S13": {fault: &faulty{set: swallow("0A-1B")}},
		"S14": {fault: &faulty{set: lenient}},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			profile := "ocp"
			if rule[0] == 'S' {
				profile = "sonic-ocs"
			}
			r := newWired(t, profile, 8, tt.change)
			if rule == "O10" || rule == "O11" {
				r.door.Do(func(_ time.Duration, d *device.Device) {
					d.Fault(device.Fault{Kind: device.Spoil, Port: 0, Times: 1})
				})
			}
			if tt.stands != nil {
				if err := r.open(t).Set(t.Context(), tt.stands); err != nil {
					t.Fatal(err)
				}
				r.until(t, func(v wiring.View) bool {
					return len(v.Seen) == 1 && v.Seen[0].Status != southbound.PendingConnection
				})
			}
			if tt.then != nil {
				r.door.Do(func(now time.Duration, d *device.Device) { tt.then(d, now) })
			}
			f := tt.fault
			if f == nil {
				f = &faulty{}
			}
			f.Target = r.target
			if got := checked(t, f, r.profile, r.restart, rule)[rule]; got.Result != conformance.Broken {
				t.Errorf("the fault is not found: %+v", got)
			}
		})
	}
}

// TestPublishedRulesHold: no rule is broken by a target of ours, and as many as can be are tried.
func TestPublishedRulesHold(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string]struct {
		mode device.Recovery
		held int
	}{"ocp": {device.Remove, 22}, "sonic-ocs": {device.Saved, 13}, "sonic-ocs-hld": {device.Saved, 13}} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			r := newWired(t, profile, 8, recovers(want.mode))
			held := 0
			o := conformance.Options{Restart: r.restart, Lab: r.lab(t)}
			for name, f := range checkedIn(t, &faulty{Target: r.target}, r.profile, o) {
				if f.Result == conformance.Broken {
					t.Errorf("%s: %s", name, f.Why)
				}
				if f.Result == conformance.Held && (name[0] == 'O' || name[0] == 'S') {
					held++
				}
			}
			if held != want.held {
				t.Errorf("%d of the published rules held, want %d", held, want.held)
			}
			if left := r.view(); len(left.Seen)+len(left.Configured) > 0 {
				t.Errorf("the check left %+v", left)
			}
		})
	}
}

// piecemeal does what it can of a request.
func piecemeal(ctx context.Context, req *gpb.SetRequest, next setter) (resp *gpb.SetResponse, err error) {
	if len(req.GetUpdate()) < 2 {
		return next(ctx, req)
	}
	for _, u := range req.GetUpdate() {
		if resp, err = next(ctx, &gpb.SetRequest{Update: []*gpb.Update{u}}); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// anew makes again what stands.
func anew(ctx context.Context, req *gpb.SetRequest, next setter) (*gpb.SetResponse, error) {
	again := &gpb.SetRequest{}
	for _, u := range req.GetUpdate() {
		again.Delete = append(again.Delete, u.GetPath())
	}
	if _, err := next(ctx, again); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

// createFirst creates before it deletes.
func createFirst(ctx context.Context, req *gpb.SetRequest, next setter) (*gpb.SetResponse, error) {
	if _, err := next(ctx, &gpb.SetRequest{Update: req.GetUpdate()}); err != nil {
		return nil, err
	}
	return next(ctx, &gpb.SetRequest{Delete: req.GetDelete()})
}

// lenient refuses no single row.
func lenient(ctx context.Context, req *gpb.SetRequest, next setter) (*gpb.SetResponse, error) {
	resp, err := next(ctx, req)
	if err != nil && len(req.GetUpdate()) == 1 {
		return &gpb.SetResponse{}, nil
	}
	return resp, err
}
