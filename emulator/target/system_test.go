package target_test

import (
	"testing"
	"time"

	syspb "github.com/openconfig/gnoi/system"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

func (r *rig) system(t *testing.T) syspb.SystemClient {
	t.Helper()
	conn, err := gnmi.Connect(r.config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return syspb.NewSystemClient(conn)
}

// TestReboot: a reboot by gNOI is a restart of the device, with what its recovery keeps: watches end,
// requests are unavailable until it has booted, and then it tells of itself anew. One that waits can be
// cancelled.
func TestReboot(t *testing.T) {
	for _, recovery := range []device.Recovery{device.Remove, device.Restore, device.Maintain} {
		r := newRig(t, device.Packet, func(dc *device.Config, c *target.Config) {
			dc.Recovery,
				c.Boot = recovery, 50*ms
		})
		d, s := r.dial(t, r.config(t)), r.system(t)
		a := rule(1, 3, 2, 4)
		if err := d.Set(t.Context(), rules(a)); err != nil {
			t.Fatal(err)
		}
		synced, lost := make(chan bool, 1), make(chan error, 1)
		go func() {
			lost <- d.Watch(t.Context(), func(e southbound.DeviceEvent) {
				if e.Kind == southbound.Synced {
					synced <- true
				}
			})
		}()
		<-synced
		cold := &syspb.RebootRequest{Method: syspb.RebootMethod_COLD, Message: "test"}
		if _, err := s.Reboot(t.Context(), cold); err != nil {
			t.Fatal(err)
		}
		if err := <-lost; status.Code(err) != codes.Unavailable {
			t.Errorf("the watch ends with %v", err)
		}
		got, err := s.RebootStatus(t.Context(), &syspb.RebootStatusRequest{})
		if err != nil || got.GetCount() != 1 || got.GetReason() != "test" {
			t.Errorf("%v, %v", got, err)
		}
		if recovery == device.Remove {
			has(t, "after a reboot", d)
		} else {
			has(t, "after a reboot", d, a)
		}
		got, err = s.RebootStatus(t.Context(), &syspb.RebootStatusRequest{})
		if err != nil || got.GetActive() || got.GetStatus().GetStatus() != syspb.RebootStatus_STATUS_SUCCESS {
			t.Errorf("%v, %v", got, err)
		}
		_, err = s.Reboot(t.Context(), &syspb.RebootRequest{Method: syspb.RebootMethod_WARM,
			Delay: uint64(time.Hour)})
		if want := recovery == device.Maintain; (err == nil) != want {
			t.Errorf("a warm reboot, recovery %d: %v", recovery, err)
		}
	}
}

// TestRebootWaits: a reboot waits for its delay, and a second one, or one of an unknown kind, is refused.
func TestRebootWaits(t *testing.T) {
	r := newRig(t, device.Optical, func(_ *device.Config, c *target.Config) { c.Boot = ms })
	s := r.system(t)
	ask := func(want codes.Code, q *syspb.RebootRequest) {
		t.Helper()
		if _, err := s.Reboot(t.Context(), q); status.Code(err) != want {
			t.Errorf("%v: %v, want %v", q, err, want)
		}
	}
	ask(codes.InvalidArgument, &syspb.RebootRequest{})
	ask(codes.Unimplemented, &syspb.RebootRequest{Method: syspb.RebootMethod_POWERDOWN})
	ask(codes.InvalidArgument, &syspb.RebootRequest{Method: syspb.RebootMethod_COLD, Delay: 1 << 63})
	ask(codes.OK, &syspb.RebootRequest{Method: syspb.RebootMethod_COLD, Delay: uint64(time.Hour)})
	ask(codes.FailedPrecondition, &syspb.RebootRequest{Method: syspb.RebootMethod_COLD})
	got, err := s.RebootStatus(t.Context(), &syspb.RebootStatusRequest{})
	if err != nil || !got.GetActive() || got.GetWait() < uint64(time.Minute) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := s.CancelReboot(t.Context(), &syspb.CancelRebootRequest{}); err != nil {
		t.Fatal(err)
	}
	ask(codes.OK, &syspb.RebootRequest{Method: syspb.RebootMethod_COLD, Delay: uint64(5 * ms)})
	tick, late := time.NewTicker(ms), time.After(10*time.Second)
	defer tick.Stop()
	for {
		got, err := s.RebootStatus(t.Context(), &syspb.RebootStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetCount() == 1 && !got.GetActive() {
			break
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("it never reboots: %v", got)
		}
	}
	now, err := s.Time(t.Context(), &syspb.TimeRequest{})
	if off := time.Since(time.Unix(0, int64(now.GetTime()))); err != nil || off < 0 || off > time.Minute {
		t.Errorf("time %v, %v", now, err)
	}
	ask(codes.OK, &syspb.RebootRequest{Method: syspb.RebootMethod_COLD, Delay: uint64(time.Hour)}) // Close ends its timer
}
