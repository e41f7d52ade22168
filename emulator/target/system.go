package target

import (
	"context"
	"time"

	syspb "github.com/openconfig/gnoi/system"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
)

// system serves gNOI's System beside a target, as far as the switch is one that can restart: its time
// and its reboots, which are the device's restarts.
type system struct {
	syspb.UnimplementedSystemServer
	t *Target
}

// reboot is what is known of the switch's reboots.
type reboot struct {
	timer  *time.Timer // of one that waits; nil: none does
	when   time.Time   // of that one, or of the last
	method syspb.RebootMethod
	reason string
	count  uint32
}

// defaultBoot is how long a reboot takes.
const defaultBoot = time.Second

// maxRebootDelay bounds how long a reboot may wait.
const maxRebootDelay = 24 * time.Hour

// Time implements gNOI.
func (s *system) Time(context.Context, *syspb.TimeRequest) (*syspb.TimeResponse, error) {
	return &syspb.TimeResponse{Time: uint64(time.Now().UnixNano())}, nil
}

// Reboot implements gNOI. The caller's connection stays, as the machine's that the switch is emulated
// on does; every stream of the switch ends, and requests are unavailable until it has booted.
func (s *system) Reboot(_ context.Context, req *syspb.RebootRequest) (*syspb.RebootResponse, error) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	switch m := req.GetMethod(); {
	case m == syspb.RebootMethod_UNKNOWN:
		return nil, status.Error(codes.InvalidArgument, "the method is missing")
	case len(req.GetSubcomponents()) > 0:
		return nil, status.Error(codes.Unimplemented, "this switch reboots as a whole")
	case m == syspb.RebootMethod_WARM || m == syspb.RebootMethod_NSF:
		if !t.keepsForwarding() {
			return nil, status.Errorf(codes.Unimplemented,
				"method %v: this switch does not forward while it restarts", m)
		}
	case m != syspb.RebootMethod_COLD:
		return nil, status.Errorf(codes.Unimplemented, "method %v is not supported", m)
	}
	delay := time.Duration(min(req.GetDelay(), uint64(maxRebootDelay)+1))
	switch {
	case delay > maxRebootDelay:
		return nil, status.Errorf(codes.InvalidArgument, "a reboot waits for %v at most", maxRebootDelay)
	case t.reboot.timer != nil:
		return nil, status.Errorf(codes.FailedPrecondition, "a reboot waits until %s",
			t.reboot.when.Format(time.RFC3339))
	case t.down && !req.GetForce():
		return nil, status.Error(codes.FailedPrecondition, "the switch restarts already")
	}
	t.reboot.method, t.reboot.reason, t.reboot.when = req.GetMethod(), req.GetMessage(), time.Now().Add(delay)
	if delay == 0 {
		t.restart()
		return &syspb.RebootResponse{}, nil
	}
	t.reboot.timer = time.AfterFunc(delay, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.reboot.timer != nil { // else it was cancelled meanwhile
			t.reboot.timer = nil
			t.restart()
		}
	})
	return &syspb.RebootResponse{}, nil
}

// keepsForwarding reports whether circuits and rules outlive a restart.
func (t *Target) keepsForwarding() (keeps bool) {
	t.cfg.Door.Do(func(_ time.Duration, d *device.Device) { keeps = d.Config().Recovery == device.Maintain })
	return keeps
}

// restart restarts the device. The lock is held.
func (t *Target) restart() {
	t.reboot.count++
	t.image.restart()
	t.cfg.Door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, t.cfg.Boot) })
	t.catchUp()
}

// RebootStatus implements gNOI.
func (s *system) RebootStatus(_ context.Context,
	req *syspb.RebootStatusRequest) (*syspb.RebootStatusResponse, error) {
	if len(req.GetSubcomponents()) > 0 {
		return nil, status.Error(codes.Unimplemented, "this switch reboots as a whole")
	}
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	r := &t.reboot
	out := &syspb.RebootStatusResponse{Active: r.timer != nil || t.down, Count: r.count, Reason: r.reason,
		Method: r.method}
	if r.timer != nil {
		out.Wait = uint64(max(time.Until(r.when), 0))
	}
	if !r.when.IsZero() {
		out.When = uint64(r.when.UnixNano())
	}
	if !out.Active && r.count > 0 {
		out.Status = &syspb.RebootStatus{Status: syspb.RebootStatus_STATUS_SUCCESS}
	}
	return out, nil
}

// CancelReboot implements gNOI. Where none waits it does nothing.
func (s *system) CancelReboot(_ context.Context,
	req *syspb.CancelRebootRequest) (*syspb.CancelRebootResponse, error) {
	if len(req.GetSubcomponents()) > 0 {
		return nil, status.Error(codes.Unimplemented, "this switch reboots as a whole")
	}
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.t.cancelReboot()
	return &syspb.CancelRebootResponse{}, nil
}

// cancelReboot keeps a reboot that waits from beginning. The lock is held.
func (t *Target) cancelReboot() {
	if t.reboot.timer != nil {
		t.reboot.timer.Stop()
		t.reboot = reboot{count: t.reboot.count}
	}
}
