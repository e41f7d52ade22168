package target_test

import (
	"cmp"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/devicetest"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/noise"
	"lightloom/southbound/pki"
)

// TestMain has more tests run at once than there are processors, because they mostly wait for what must not come.
func TestMain(m *testing.M) {
	noise.Waiting(6)
	goleak.VerifyTestMain(m)
}

const ms = time.Millisecond

// rig is a device, its target, and what is needed to dial it.
type rig struct {
	door   *device.Door
	plane  *mem.Plane
	target *target.Target
	addr   string
	start  time.Time
	auth   *pki.Authority
	kind   device.Kind
	stop   func()
}

func newRig(t testing.TB, kind device.Kind, change func(*device.Config, *target.Config)) *rig {
	t.Helper()
	r := &rig{start: time.Now(), kind: kind}
	clock := func() time.Duration { return time.Since(r.start) }
	r.plane = mem.New(8, clock)
	dc := device.Config{Name: "sw", ID: 3, Kind: kind, Ports: 8, Racks: 8, Plane: r.plane, Clock: clock,
		Delays: device.Delays{Apply: device.Fixed(ms / 2), Dark: device.Fixed(ms), Lock: device.Fixed(ms),
			Detect: device.Fixed(ms)}}
	tc := target.Config{Start: r.start}
	if change != nil {
		change(&dc, &tc)
	}
	r.door = device.NewDoor(device.New(dc), clock, nil)
	var err error
	if r.auth, err = pki.New(time.Hour); err != nil {
		t.Fatal(err)
	}
	tc.Door, tc.TLS = r.door, r.identity(t, pki.Switch, "sw").Server(pki.Controller)
	if r.target, err = target.New(tc); err != nil {
		t.Fatal(err)
	}
	r.addr = "127.0.0.1:0"
	t.Cleanup(r.target.Close)
	stopRun := background(t, r.door.Run)
	r.serve(t)
	t.Cleanup(func() { r.stop(); stopRun() })
	return r
}

// serve begins to serve at the address of before; stop ends it.
func (r *rig) serve(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr().String()
	r.stop = background(t, func(ctx context.Context) error { return r.target.Serve(ctx, l) })
}

// background runs f until the returned function is called, which waits for its end.
func background(t testing.TB, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (r *rig) identity(t testing.TB, role pki.Role, name string) pki.Identity {
	t.Helper()
	id, err := r.auth.Issue(role, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (r *rig) profile(racks int32) gnmi.Profile {
	if r.kind == device.Optical {
		return gnmi.OCP{Ports: 8}
	}
	return gnmi.OpenConfig{Ports: 8, Racks: racks}
}

func (r *rig) config(t testing.TB) gnmi.Config {
	return gnmi.Config{Name: "sw", Addr: r.addr, Device: 3, Profile: r.profile(8), Start: r.start,
		TLS: r.identity(t, pki.Controller, "c1").Client("sw", pki.Switch)}
}

func (r *rig) dial(t testing.TB, cfg gnmi.Config) *gnmi.Session {
	t.Helper()
	s, err := gnmi.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// likeSONiC makes a target behave as SONiC's own server.
func likeSONiC(profile string) func(*device.Config, *target.Config) {
	return func(_ *device.Config, c *target.Config) { c.Profile, c.Like = profile, target.LikeSONiC }
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		kind    device.Kind
		profile gnmi.Profile // nil: the rig's
		change  func(*device.Config, *target.Config)
	}{
		{"packet", device.Packet, nil, nil},
		{"optical", device.Optical, nil, nil},
		{"sonic-ocs", device.Optical, gnmi.SONiCOCS{Ports: 8}, withSONiC},
		{"sonic-ocs-hld", device.Optical, gnmi.SONiCOCS{Ports: 8, Tables: schema.HLDOCSTables()},
			speaks("sonic-ocs-hld")},
		{"sonic like sonic-gnmi", device.Packet, gnmi.SONiC{Ports: 8, Racks: 8, ControllerBackup: true},
			likeSONiC("sonic")},
		{"ocp beside sonic-ocs", device.Optical, nil, withSONiC},
		{"srl-native", device.Packet, gnmi.SRLinux{Ports: 8, Racks: 8, ControllerBackup: true},
			speaks("srl-native")},
		{"sonic", device.Packet, gnmi.SONiC{Ports: 8, Racks: 8, ControllerBackup: true}, speaks("sonic")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			devicetest.Run(t, func(t *testing.T) *devicetest.Bench {
				r := newRig(t, tt.kind, tt.change)
				open := func(id gnmi.Election) *gnmi.Session {
					cfg := r.config(t)
					cfg.Profile, cfg.Poll = cmp.Or(tt.profile, cfg.Profile), 5*ms
					cfg.Election = func() gnmi.Election { return id }
					return r.dial(t, cfg)
				}
				return &devicetest.Bench{
					Device:  open(gnmi.Election{High: 5, Low: 5}),
					Optical: tt.kind == device.Optical, Ports: 8, Racks: 8,
					Light: func(p southbound.Port, lit bool) { r.door.Light(p, lit) },
					Rival: func(t *testing.T, larger bool) southbound.Device {
						id := gnmi.Election{High: 5, Low: 4}
						if larger {
							id = gnmi.Election{High: 6}
						}
						return open(id)
					},
				}
			})
		})
	}
}

func withSONiC(_ *device.Config, c *target.Config) { c.SONiC = true }
