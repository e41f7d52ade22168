package gnmi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// counter is a target that sends the octets of one port, as often as the test wants.
type counter struct {
	villain
}

func (counter) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	var models []*gpb.ModelData
	for _, m := range schema.OpenConfig().Modules {
		models = append(models, &gpb.ModelData{Name: m.Name, Organization: m.Organization, Version: m.Version})
	}
	return &gpb.CapabilityResponse{SupportedModels: models}, nil
}

func octets(at time.Duration, port int, n uint64) *gpb.SubscribeResponse {
	u := says(fmt.Sprintf("/interfaces/interface[name=Ethernet%d]/state/counters/out-octets", port),
		fmt.Sprintf("%q", fmt.Sprint(n)))
	u.Timestamp = int64(at)
	return &gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: u}}
}

func dialCounter(t *testing.T, subscribe func(gpb.GNMI_SubscribeServer) error) *gnmi.Session {
	t.Helper()
	addr := serve(t, counter{villain{subscribe: subscribe}})
	s, err := gnmi.Dial(t.Context(), gnmi.Config{Name: "tor", Addr: addr,
		Profile:   gnmi.OpenConfig{Ports: 4, Racks: 4},
		Plaintext: true, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestCountersBackPressure: a slow reader loses old samples, gets the newest, and never stops the stream.
func TestCountersBackPressure(t *testing.T) {
	const rounds = 20_000 // more than flow control lets an unread stream hold
	sent, first := make(chan struct{}), make(chan struct{})
	s := dialCounter(t, func(srv gpb.GNMI_SubscribeServer) error {
		if err := srv.Send(octets(1, 2, 1)); err != nil {
			return err
		}
		<-first // tell is being held up
		for i := range uint64(rounds) {
			if err := srv.Send(octets(time.Duration(i+2), 2, i+2)); err != nil {
				return err
			}
		}
		close(sent)
		<-srv.Context().Done()
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls, last := 0, southbound.PortCounters{}
	err := s.Counters(ctx, 4*time.Millisecond, func(ports []southbound.PortCounters) {
		if calls++; calls == 1 {
			close(first)
			select {
			case <-sent:
			case <-ctx.Done():
			}
		}
		if last = ports[len(ports)-1]; last.OutOctets == rounds+1 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := (southbound.PortCounters{Port: 2, At: rounds + 1, OutOctets: rounds + 1}); last != want {
		t.Errorf("last %+v, want %+v", last, want)
	}
	if calls > rounds/10 {
		t.Errorf("%d calls for %d samples: none were dropped", calls, rounds)
	}
}

// TestCountersEnd: a stream that ends is an error that names the device; so is a stream that the device
// does not offer.
func TestCountersEnd(t *testing.T) {
	s := dialCounter(t, func(srv gpb.GNMI_SubscribeServer) error { return srv.Send(octets(1, 9, 5)) })
	err := s.Counters(t.Context(), time.Millisecond,
		func(p []southbound.PortCounters) { t.Errorf("a port that is not there: %v", p) })
	if err == nil || errors.Is(err, southbound.ErrUnsupported) {
		t.Errorf("a stream that ended: %v", err)
	}
	if err := s.Counters(t.Context(), 0, nil); err == nil {
		t.Error("an interval of nothing was taken")
	}
	d := dial(t, serve(t, villain{}), nil)
	if err := d.Counters(t.Context(), time.Second, nil); !errors.Is(err, southbound.ErrUnsupported) {
		t.Errorf("an optical switch: %v", err)
	}
}

// TestCountersNeedAnInterval: an interval of nothing is refused before the device is asked.
func TestCountersNeedAnInterval(t *testing.T) {
	s := dialCounter(t, func(gpb.GNMI_SubscribeServer) error { return errors.New("asked") })
	err := s.Counters(t.Context(), 0, func([]southbound.PortCounters) {})
	if err == nil || !strings.Contains(err.Error(), "take more than zero") {
		t.Errorf("error %v", err)
	}
}
