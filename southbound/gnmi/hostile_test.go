package gnmi_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// villain is a target that sends what the test wants.
type villain struct {
	gpb.UnimplementedGNMIServer
	get       func(ctx context.Context) (*gpb.GetResponse, error)
	subscribe func(s gpb.GNMI_SubscribeServer) error
}

func (villain) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{SupportedModels: []*gpb.ModelData{{Name: schema.OCPConnectionsModule,
		Version: schema.OCPVersion}}}, nil
}
func (v villain) Get(ctx context.Context, _ *gpb.GetRequest) (*gpb.GetResponse, error) {
	return v.get(ctx)
}
func (v villain) Set(ctx context.Context, _ *gpb.SetRequest) (*gpb.SetResponse, error) {
	if _, err := v.get(ctx); err != nil {
		return nil, err
	}
	return &gpb.SetResponse{}, nil
}
func (v villain) Subscribe(s gpb.GNMI_SubscribeServer) error { return v.subscribe(s) }

// serve runs a server until the test ends.
func serve(t *testing.T, v gpb.GNMIServer, opts ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(opts...)
	gpb.RegisterGNMIServer(s, v)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// says answers with one value at a path of text.
func says(path, json string) *gpb.Notification {
	p, err := schema.Parse(path)
	if err != nil {
		panic(err)
	}
	return &gpb.Notification{Update: []*gpb.Update{{Path: p.Proto(), Val: ietf(json)}}}
}

func ietf(text string) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(text)}}
}

// TestVillains: what a device may say and do wrong is an error that names the device and, where there is one, the path;
// it comes within the time that is allowed.
func TestVillains(t *testing.T) {
	const at = "/connections/port-connection[name=in0-out1]"
	good := says(at, `{"name":"in0-out1","state":{"status":"CONNECTED"}}`)
	for _, tt := range []struct {
		name string
		n    *gpb.Notification
		says string
	}{
		{"not JSON", says(at, `{"state":`), "in0-out1"},
		{"a list where a container belongs", says(at, `{"state":[]}`), "want a JSON object"},
		{"a number where a word belongs", says(at, `{"state":{"status":7}}`), "status"},
		{"a status that is none", says(at, `{"state":{"status":"PERHAPS"}}`), "PERHAPS"},
		{"another entry's key", says(at, `{"name":"in5-out5","state":{"status":"CONNECTED"}}`), `key "name" is "in5-out5"`},
		{"a name without ports", says("/connections/port-connection[name=x]", `{"name":"x","state":{"status":"CONNECTED"}}`),
			`port-connection "x"`},
		{"renumbered ports", says("/connections/port-connection[name=in8-out1]",
			`{"name":"in8-out1","state":{"status":"CONNECTED"}}`), "renumbered"},
		{"no value", &gpb.Notification{Update: []*gpb.Update{{Path: good.Update[0].Path}}}, "in0-out1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := serve(t, villain{
				get: func(context.Context) (*gpb.GetResponse, error) {
					return &gpb.GetResponse{Notification: []*gpb.Notification{tt.n}}, nil
				},
				subscribe: func(s gpb.GNMI_SubscribeServer) error {
					return s.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: tt.n}})
				},
			})
			d := dial(t, addr, nil)
			_, rerr := d.Read(t.Context())
			var told []southbound.DeviceEvent
			werr := d.Watch(t.Context(), func(e southbound.DeviceEvent) { told = append(told, e) })
			for what, err := range map[string]error{"read": rerr, "watch": werr} {
				if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), `device "villain"`) {
					t.Errorf("%s: %v, want %q", what, err, tt.says)
				}
			}
			if len(told) != 1 || told[0].Kind != southbound.Lost {
				t.Errorf("told %+v", told)
			}
		})
	}
}

func dial(t *testing.T, addr string, change func(*gnmi.Config)) *gnmi.Session {
	t.Helper()
	cfg := gnmi.Config{Name: "villain", Addr: addr, Plaintext: true, Profile: gnmi.OCP{Ports: 8},
		Timeout: 2 * time.Second}
	if change != nil {
		change(&cfg)
	}
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

// older is a target that says inside a response what went wrong.
type older struct {
	villain
	answer *gpb.SetResponse
}

func (o older) Set(context.Context, *gpb.SetRequest) (*gpb.SetResponse, error) { return o.answer, nil }

// TestFailureWithin: older devices say inside a response that is no error that a change failed, of all of it or of a
// part; whatever the code, it is one.
func TestFailureWithin(t *testing.T) {
	change := &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		m := &gpb.Error{Code: uint32(code), Message: "no light"} //nolint:staticcheck // deprecated, and still sent
		for name, answer := range map[string]*gpb.SetResponse{"all": {Message: m},
			"a part": {Response: []*gpb.UpdateResult{{}, {Message: m}}}} {
			v := villain{get: func(context.Context) (*gpb.GetResponse, error) { return &gpb.GetResponse{}, nil }}
			err := dial(t, serve(t, older{v, answer}), nil).Set(t.Context(), change)
			if (err == nil) != (code == codes.OK) || err != nil && !strings.Contains(err.Error(), "no light") {
				t.Errorf("%s, %v: %v", name, code, err)
			}
			if refused := code == codes.InvalidArgument || code == codes.NotFound || code == codes.Aborted ||
				code == codes.Unimplemented; errors.Is(err, southbound.ErrRefused) != refused {
				t.Errorf("%s, %v: refused for good: %v", name, code, err)
			}
		}
	}
}

// counted is a target that answers each Set, and each Get from the second on, with the next code that it is given.
type counted struct {
	villain
	sets, gets chan codes.Code
}

func (c counted) Set(context.Context, *gpb.SetRequest) (*gpb.SetResponse, error) {
	if code := <-c.sets; code != codes.OK {
		return nil, status.Error(code, "set")
	}
	return &gpb.SetResponse{}, nil
}

// TestSetReadsAgain: a change that is refused on a configuration read earlier is sent once more after reading it anew,
// because another client may have written. A change that is refused on a freshly read configuration is not sent again.
func TestSetReadsAgain(t *testing.T) {
	change := &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
	const ok, aborted, away = codes.OK, codes.Aborted, codes.Unavailable
	for _, tt := range []struct {
		name       string
		sets, gets []codes.Code
		says       string
	}{
		{"taken", []codes.Code{ok, ok}, []codes.Code{ok}, ""},
		{"taken after reading", []codes.Code{ok, aborted, ok}, []codes.Code{ok, ok}, ""},
		{"refused again", []codes.Code{ok, aborted, aborted}, []codes.Code{ok, ok}, "set"},
		{"not to be read", []codes.Code{ok, aborted}, []codes.Code{ok, away}, "get"},
		{"refused for another reason", []codes.Code{ok, codes.InvalidArgument}, []codes.Code{ok}, "set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := counted{sets: make(chan codes.Code, 9), gets: make(chan codes.Code, 9)}
			c.get = func(context.Context) (*gpb.GetResponse, error) {
				if code := <-c.gets; code != ok {
					return nil, status.Error(code, "get")
				}
				return &gpb.GetResponse{}, nil
			}
			for _, code := range tt.sets {
				c.sets <- code
			}
			for _, code := range tt.gets {
				c.gets <- code
			}
			d := dial(t, serve(t, c), nil)
			if err := d.Set(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			err := d.Set(t.Context(), change)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), "desc = "+tt.says) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if len(c.sets)+len(c.gets) > 0 {
				t.Errorf("%d Sets and %d Gets too few", len(c.sets), len(c.gets))
			}
		})
	}
}

// TestSilence: a device that never answers costs one timeout and delays no other device; a device that sends too much
// is cut off.
func TestSilence(t *testing.T) {
	wait := func(ctx context.Context) (*gpb.GetResponse, error) {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	mute := dial(t, serve(t, villain{get: wait}), func(c *gnmi.Config) { c.Timeout = 200 * time.Millisecond })
	fine := dial(t, serve(t, villain{get: func(context.Context) (*gpb.GetResponse, error) {
		return &gpb.GetResponse{}, nil
	}}), nil)
	answered := make(chan error, 2)
	began := time.Now()
	go func() { answered <- mute.Set(t.Context(), &southbound.Change{}) }()
	go func() { _, err := mute.Read(t.Context()); answered <- err }()
	if err := fine.Set(t.Context(), &southbound.Change{}); err != nil {
		t.Errorf("the other device: %v", err)
	}
	for range 2 {
		if err := <-answered; status.Code(errors.Unwrap(err)) != codes.DeadlineExceeded &&
			!strings.Contains(fmt.Sprint(err), "deadline") || errors.Is(err, southbound.ErrRefused) {
			t.Errorf("silence: %v", err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	huge := dial(t, serve(t, villain{get: func(context.Context) (*gpb.GetResponse, error) {
		return &gpb.GetResponse{Notification: []*gpb.Notification{says("/connections", `{"port-connection":[]}`+
			strings.Repeat(" ", 1<<16))}}, nil
	}}), func(c *gnmi.Config) { c.MaxBytes = 1 << 14 })
	if _, err := huge.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "larger than max") ||
		!strings.Contains(err.Error(), `device "villain"`) {
		t.Errorf("a huge answer: %v", err)
	}
}

// TestCertificates: expired and foreign certificates, and those of another name, are refused before any message.
func TestCertificates(t *testing.T) {
	t.Parallel()
	issue := func(name string, until time.Time) (tls.Certificate, *x509.CertPool) {
		t.Helper()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
			DNSNames:  []string{name},
			NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AddCert(leaf)
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
	}
	now := time.Now()
	good, trust := issue("sw", now.Add(time.Hour))
	expired, expiredTrust := issue("sw", now.Add(-time.Minute))
	for _, tt := range []struct {
		name  string
		cert  tls.Certificate
		trust *x509.CertPool
		as    string
		says  string
	}{
		{"expired", expired, expiredTrust, "sw", "expired"},
		{"foreign", good, expiredTrust, "sw", "certificate"},
		{"another name", good, trust, "ocs", "ocs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := serve(t, villain{}, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{tt.cert}})))
			for long := 500 * time.Millisecond; ; long *= 2 { // a busy machine may not have shaken hands in that time
				s, err := gnmi.Dial(t.Context(), gnmi.Config{Name: "villain", Addr: addr,
					Profile: gnmi.OCP{Ports: 8},
					Timeout: long,
					TLS:     &tls.Config{RootCAs: tt.trust, ServerName: tt.as}})
				if err == nil {
					_ = s.Close()
				}
				if err == nil || !strings.Contains(err.Error(), `device "villain"`) || long > time.Minute {
					t.Fatalf("%v, want %q", err, tt.says)
				}
				if strings.Contains(err.Error(), tt.says) {
					return
				}
			}
		})
	}
}

// TestHalfOpen: the keepalive ends a connection whose peer is gone, and the watch reports Lost.
func TestHalfOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("gRPC's shortest keepalive is 10 s")
	}
	t.Parallel()
	addr := serve(t, villain{subscribe: func(s gpb.GNMI_SubscribeServer) error { <-s.Context().Done(); return nil }})
	proxy, freeze := between(t, addr)
	d := dial(t, proxy, func(c *gnmi.Config) { c.Keepalive, c.Timeout = 10*time.Second, time.Second })
	freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	lost := false
	err := d.Watch(ctx, func(e southbound.DeviceEvent) { lost = lost || e.Kind == southbound.Lost })
	if err == nil || !lost || !strings.Contains(err.Error(), "keepalive") {
		t.Errorf("%v, lost %v", err, lost)
	}
}
