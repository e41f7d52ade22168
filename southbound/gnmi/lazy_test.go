package gnmi_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// late is a target that sends no capabilities until it is ready, and counts requests.
type late struct {
	villain
	ready *atomic.Bool
	asked *atomic.Int32
}

func (l late) Capabilities(ctx context.Context, r *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	if l.asked.Add(1); !l.ready.Load() {
		return nil, status.Error(codes.Unavailable, "booting")
	}
	return l.villain.Capabilities(ctx, r)
}

// TestRedial: it ends the calls on a session, and the next call goes where the device is now.
func TestRedial(t *testing.T) {
	streams := make(chan string, 4)
	ready := new(atomic.Bool)
	ready.Store(true)
	at := func(name string) string {
		return serve(t, late{villain{subscribe: func(s gpb.GNMI_SubscribeServer) error {
			streams <- name
			<-s.Context().Done()
			return s.Context().Err()
		}}, ready, new(atomic.Int32)})
	}
	var addr atomic.Value
	addr.Store(at("old"))
	l := gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) {
		return gnmi.Dial(ctx, gnmi.Config{Name: "d", Addr: addr.Load().(string), Plaintext: true,
			Profile: gnmi.OCP{Ports: 8},
			Timeout: 5 * time.Second})
	}, func() time.Duration { return time.Minute })
	defer l.Close()
	if l.SetWithin() != time.Minute {
		t.Error(l.SetWithin())
	}
	for _, name := range []string{"old", "new"} {
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- l.Watch(ctx, func(southbound.DeviceEvent) {}) }()
		if got := <-streams; got != name {
			t.Errorf("the stream is of the %s device, want the %s", got, name)
		}
		if name == "old" {
			addr.Store(at("new"))
			l.Redial()
		} else {
			cancel()
		}
		if err := <-ended; (err != nil) != (name == "old") {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

// TestRedialOfDead: a device that is being dialled and does not answer does not keep its successor waiting.
func TestRedialOfDead(t *testing.T) {
	dialled, dead := make(chan struct{}), new(atomic.Bool)
	dead.Store(true)
	l := gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) {
		if !dead.Load() {
			return nil, errors.New("the successor")
		}
		close(dialled)
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := l.Read(t.Context())
		ended <- err
	}()
	<-dialled
	dead.Store(false)
	l.Redial()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the dial of the dead device ends with %v", err)
	}
	if _, err := l.Read(t.Context()); err == nil || err.Error() != "the successor" {
		t.Errorf("%v", err)
	}
}

// TestLazy: a device that does not answer is an error of each call, and dialled anew by the next one;
// once it has answered, its session stays.
func TestLazy(t *testing.T) {
	ready, asked := new(atomic.Bool), new(atomic.Int32)
	good := says("/connections/port-connection[name=in0-out1]", `{"name":"in0-out1","state":{"status":"CONNECTED"}}`)
	addr := serve(t, late{villain{
		get: func(context.Context) (*gpb.GetResponse, error) {
			return &gpb.GetResponse{Notification: []*gpb.Notification{good}}, nil
		},
		subscribe: func(s gpb.GNMI_SubscribeServer) error {
			return s.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: good}})
		},
	}, ready, asked})
	l := gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) {
		return gnmi.Dial(ctx, gnmi.Config{Name: "late", Addr: addr, Plaintext: true, Profile: gnmi.OCP{Ports: 8},
			Timeout: 5 * time.Second})
	}, nil)
	defer l.Close()
	told, seen := 0, southbound.Seen{}
	calls := map[string]func() error{
		"set":  func() error { return l.Set(t.Context(), &southbound.Change{}) },
		"read": func() (err error) { seen, err = l.Read(t.Context()); return err },
		"watch": func() error {
			return l.Watch(t.Context(), func(e southbound.DeviceEvent) {
				if e.Kind == southbound.ConnectionStatus {
					told++
				}
			})
		},
		"count": func() error {
			return l.Counters(t.Context(), time.Second, func([]southbound.PortCounters) {})
		},
	}
	for name, call := range calls {
		before := asked.Load()
		if err := call(); err == nil || !strings.Contains(err.Error(), "booting") || asked.Load() == before {
			t.Errorf("%s: %v, the device has been asked %d times", name, err, asked.Load()-before)
		}
	}
	ready.Store(true)
	before := asked.Load()
	for _, name := range []string{"set", "read", "watch", "count"} {
		err := calls[name]()
		switch name {
		case "set", "read":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case "watch": // the stream ends, and that is an error
			if err == nil || strings.Contains(err.Error(), "booting") || told == 0 {
				t.Errorf("%s: %v, told %d", name, err, told)
			}
		}
	}
	if len(seen.Connections) != 1 || asked.Load() != before+1 {
		t.Errorf("%+v; the device was dialled %d times", seen, asked.Load()-before)
	}
}
