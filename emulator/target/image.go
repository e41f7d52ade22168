package target

import (
	"context"
	"slices"
	"time"

	resetpb "github.com/openconfig/gnoi/factory_reset"
	ospb "github.com/openconfig/gnoi/os"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
)

// image is which image of the switch runs; "" is the first of its configuration.
type image struct{ running, next string }

// restart has the image run that was activated.
func (i *image) restart() {
	if i.next != "" {
		i.running, i.next = i.next, ""
	}
}

// imageServer serves gNOI's OS beside a target whose images are names: it activates those that are installed, and
// installs none.
type imageServer struct {
	ospb.UnimplementedOSServer
	t *Target
}

// Activate implements gNOI.
func (s *imageServer) Activate(_ context.Context, req *ospb.ActivateRequest) (*ospb.ActivateResponse, error) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	switch {
	case req.GetStandbySupervisor():
		return nil, status.Error(codes.Unimplemented, "this switch has one supervisor")
	case t.down:
		return nil, status.Error(codes.FailedPrecondition, "the switch restarts already")
	case !slices.Contains(t.cfg.Images, req.GetVersion()):
		return &ospb.ActivateResponse{Response: &ospb.ActivateResponse_ActivateError{ActivateError: &ospb.ActivateError{
			Type: ospb.ActivateError_NON_EXISTENT_VERSION, Detail: "no image is installed under that name"}}}, nil
	}
	t.image.next = req.GetVersion()
	if !req.GetNoReboot() {
		t.restart()
	}
	return &ospb.ActivateResponse{Response: &ospb.ActivateResponse_ActivateOk{ActivateOk: &ospb.ActivateOK{}}}, nil
}

// Verify implements gNOI.
func (s *imageServer) Verify(context.Context, *ospb.VerifyRequest) (*ospb.VerifyResponse, error) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.image.running
	if v == "" {
		v = t.cfg.Images[0]
	}
	return &ospb.VerifyResponse{Version: v}, nil
}

// factoryReset serves gNOI's FactoryReset beside a target.
type factoryReset struct {
	resetpb.UnimplementedFactoryResetServer
	t *Target
}

// Start implements gNOI.
func (s *factoryReset) Start(_ context.Context, req *resetpb.StartRequest) (*resetpb.StartResponse, error) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	refuse := func(e *resetpb.ResetError) (*resetpb.StartResponse, error) {
		return &resetpb.StartResponse{Response: &resetpb.StartResponse_ResetError{ResetError: e}}, nil
	}
	switch {
	case req.GetFactoryOs():
		return refuse(&resetpb.ResetError{FactoryOsUnsupported: true, Detail: "this switch keeps its image"})
	case req.GetZeroFill():
		return refuse(&resetpb.ResetError{ZeroFillUnsupported: true, Detail: "this switch has no disk to overwrite"})
	}
	t.cfg.Door.Do(func(now time.Duration, d *device.Device) { d.FactoryReset(now, t.cfg.Boot) })
	t.catchUp()
	done := &resetpb.StartResponse_ResetSuccess{ResetSuccess: &resetpb.ResetSuccess{}}
	return &resetpb.StartResponse{Response: done}, nil
}
