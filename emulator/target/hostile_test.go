package target_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/guard"
	"lightloom/southbound/guard/guardtest"
	"lightloom/southbound/pki"
)

// TestHugeMessage: a Set above the size limit is refused with its code, and all clients are served as before.
func TestHugeMessage(t *testing.T) {
	r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) { c.MaxBytes = 1 << 16 })
	c := r.raw(t)
	huge := &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine,
		nine("10.0.2.0/24", strings.Repeat("x", 1<<17)))}}
	if _, err := c.Set(t.Context(), huge); status.Code(err) != codes.ResourceExhausted ||
		!strings.Contains(err.Error(), "larger than max") {
		t.Errorf("a huge Set: %v", err)
	}
	many := &gpb.SetRequest{}
	for range 300_000 { // a path of nothing takes two bytes
		many.Delete = append(many.Delete, &gpb.Path{})
	}
	if _, err := r.target.Set(t.Context(), many); status.Code(err) != codes.ResourceExhausted ||
		!strings.Contains(err.Error(), "operations") {
		t.Errorf("a Set of many operations: %v", err)
	}
	deep := upd(t, ruleNine, strings.Repeat(`{"config":`, 10_000))
	if _, err := r.target.Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{deep}}); status.Code(
		err) != codes.InvalidArgument {
		t.Errorf("a Set of a deep value: %v", err)
	}
	if err := r.dial(t, r.config(t)).Set(t.Context(), &southbound.Change{Rules: tor(8)[:1]}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestManyEntries: a Set of more entries of one list than a target takes, in random order, is refused, and leaves
// nothing behind.
func TestManyEntries(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	text := []byte(`{"rule":[`)
	for i, n := range mathrand.New(mathrand.NewPCG(1, 2)).Perm(200_000) {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"sequence-id":%d,"config":{"sequence-id":%d}}`, n+1, n+1)
	}
	began := time.Now()
	_, err := r.target.Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{upd(t, policy+"/rules", string(text)+"]}")}})
	t.Logf("refused after %v", time.Since(began))
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "more than 65536 entries") {
		t.Errorf("a Set of many entries: %v", err)
	}
	left, err := r.target.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{{}}, Type: gpb.GetRequest_CONFIG,
		Encoding: gpb.Encoding_JSON_IETF})
	if err != nil || strings.Contains(left.String(), "rule") {
		t.Errorf("afterwards the configuration is %v, %v; want no rules", left, err)
	}
	if err := r.dial(t, r.config(t)).Set(t.Context(), &southbound.Change{Rules: tor(8)[:1]}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestManyFields: likewise a Set of more fields of one entry.
func TestManyFields(t *testing.T) {
	r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) { c.Profile = "sonic" })
	const many = 1<<16 + 1
	text := []byte(`{`)
	for i := range many {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `"f%05d":"x"`, i)
	}
	const entry = aclTable + "/T"
	_, err := r.target.Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{upd(t, entry, string(text)+"}")}})
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "f65536") {
		t.Errorf("a Set of many fields: %v", err)
	}
	if _, err := r.target.Get(t.Context(), &gpb.GetRequest{Path: []*gpb.Path{pathOf(t, entry)},
		Encoding: gpb.Encoding_JSON_IETF}); status.Code(err) != codes.NotFound {
		t.Errorf("afterwards it says %v of the entry, want that there is none", err)
	}
}

// TestClientCertificates: clients with an expired certificate, one of an authority that the target does not trust, or
// none are turned away; the driver's error names the device.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	r := newRig(t, device.Packet, nil)
	trust := r.identity(t, pki.Controller, "c2").Client("sw", pki.Switch)
	self := func(until time.Time) tls.Certificate {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "c1"},
			NotBefore: until.Add(-time.Hour), NotAfter: until,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	other, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.Issue(pki.Controller, "c1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		certs []tls.Certificate
	}{
		{"signed by itself", []tls.Certificate{self(time.Now().Add(time.Hour))}},
		{"foreign", foreign.Client("sw", pki.Switch).Certificates},
		{"none", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := r.config(t)
			cfg.TLS = trust.Clone()
			cfg.TLS.Certificates, cfg.TLS.GetClientCertificate = tt.certs, nil
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			s, err := gnmi.Dial(ctx, cfg)
			if err == nil {
				_ = s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), `device "sw"`) {
				t.Errorf("%v, want a refusal that names the device", err)
			}
		})
	}
	if err := r.dial(t, r.config(t)).Set(t.Context(), &southbound.Change{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	t.Run("expired", func(t *testing.T) { // a target whose clock says that it is the day after tomorrow
		serving := r.identity(t, pki.Switch, "sw").Server(pki.Controller)
		serving.Time = func() time.Time { return time.Now().Add(48 * time.Hour) }
		late, err := target.New(target.Config{Door: r.door, Start: r.start, TLS: serving})
		if err != nil {
			t.Fatal(err)
		}
		defer late.Close()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		stop := background(t, func(ctx context.Context) error { return late.Serve(ctx, l) })
		defer stop()
		cfg := r.config(t)
		cfg.Addr = l.Addr().String()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, err := gnmi.Dial(ctx, cfg)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), `device "sw"`) {
			t.Errorf("%v, want a refusal that names the device", err)
		}
	})
}

// frozen is a connection that from some moment on neither brings nor takes anything, and does not say so.
type frozen struct {
	net.Conn
	now  chan struct{}
	gone chan struct{}
	once sync.Once
}

func (f *frozen) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	select {
	case <-f.now:
		<-f.gone
		return 0, io.EOF
	default:
		return n, err
	}
}

func (f *frozen) Write(p []byte) (int, error) {
	select {
	case <-f.now:
		return len(p), nil
	default:
		return f.Conn.Write(p)
	}
}

func (f *frozen) Close() error {
	f.once.Do(func() { close(f.gone) })
	return f.Conn.Close()
}

// TestHalfOpenSubscriber: the keepalive drops a subscriber that is gone without closing its connection; meanwhile
// others are served.
func TestHalfOpenSubscriber(t *testing.T) {
	t.Parallel()
	r := newRig(t, device.Packet, func(d *device.Config, c *target.Config) {
		d.Delays, c.Keepalive = device.Delays{}, time.Second
	})
	now := make(chan struct{})
	conn, err := grpc.NewClient("passthrough:///"+r.addr,
		grpc.WithTransportCredentials(credentials.NewTLS(r.identity(t, pki.Controller,
			"raw").Client("sw", pki.Switch))),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
			if err != nil {
				return nil, err
			}
			return &frozen{Conn: c, now: now, gone: make(chan struct{})}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := open(t, gpb.NewGNMIClient(conn), list(t, gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE,
		fmt.Sprintf(oper, 1)))
	recv(t, s)
	recv(t, s)
	close(now)
	if streams, _ := r.target.Lag(); streams != 1 {
		t.Fatalf("%d streams, want the one that is half open", streams)
	}
	if err := r.dial(t, r.config(t)).Set(t.Context(), &southbound.Change{Rules: tor(8)[:1]}); err != nil {
		t.Errorf("another one meanwhile: %v", err)
	}
	tick, late := time.NewTicker(50*ms), time.After(2*time.Minute)
	defer tick.Stop()
	for {
		if streams, _ := r.target.Lag(); streams == 0 {
			return
		}
		select {
		case <-late:
			t.Fatal("the half-open stream is still served")
		case <-tick.C:
		}
	}
}

// TestSilentSockets: connections that say nothing stand at the target, more than it lets into handshakes, and a
// controller that comes after them is served.
func TestSilentSockets(t *testing.T) {
	r := newRig(t, device.Packet, nil)
	guardtest.Hold(t, r.addr, 2*guard.DefaultOpen, time.Minute)
	if err := r.dial(t, r.config(t)).Set(t.Context(), &southbound.Change{Rules: tor(8)[:1]}); err != nil {
		t.Error(err)
	}
}
