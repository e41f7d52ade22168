package conformance_test

import (
	"errors"
	"io"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
)

// polled answers POLL as gnmi.proto has it, but for one rule, and offers nothing else.
type polled struct {
	gpb.UnimplementedGNMIServer
	breaks string
}

func (p polled) Subscribe(s gpb.GNMI_SubscribeServer) error {
	first, err := s.Recv()
	if err != nil || first.GetSubscribe().GetMode() != gpb.SubscriptionList_POLL {
		return status.Error(codes.Unimplemented, "POLL alone")
	}
	for n := 0; ; n++ {
		_, err := s.Recv()
		switch {
		case errors.Is(err, io.EOF) && p.breaks == "poll-close":
			return status.Error(codes.Canceled, "the client has gone")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == 2 && p.breaks == "poll":
			return status.Error(codes.ResourceExhausted, "two polls are enough")
		}
		if !first.GetSubscribe().GetUpdatesOnly() || p.breaks == "poll-updates-only" {
			err = s.Send(&gpb.SubscribeResponse{
				Response: &gpb.SubscribeResponse_Update{Update: &gpb.Notification{Timestamp: 1}}})
		}
		if err = errors.Join(err, s.Send(&gpb.SubscribeResponse{
			Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}})); err != nil {
			return err
		}
	}
}

// TestPollRules: a target that breaks one rule of POLL is told of that one alone.
func TestPollRules(t *testing.T) {
	rules := []string{"poll", "poll-close", "poll-updates-only"}
	for _, breaks := range append([]string{"none"}, rules...) {
		t.Run(breaks, func(t *testing.T) {
			found := map[string]conformance.Finding{}
			for _, f := range conformance.Run(t.Context(), serve(t, polled{breaks: breaks}), gnmi.OCP{Ports: 4}, 4,
				conformance.Options{Timeout: 5 * time.Second}) {
				found[f.Rule] = f
			}
			for _, rule := range rules {
				f := found[rule]
				if broken := f.Result == conformance.Broken; broken != (rule == breaks) || f.Rule == "" {
					t.Errorf("%s: %+v", rule, f)
				}
			}
		})
	}
}
