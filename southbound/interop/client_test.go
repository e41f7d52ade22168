package interop

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmic/pkg/api"
	"github.com/openconfig/gnmic/pkg/api/target"
)

// client is gnmic's library, of the version that gnmic v0.47.0 names. Its command line is built from a
// clone: see gnmicCommand.
type client struct{ *target.Target }

// gnmic connects a client to the target, over TLS with the certificate that the target made for its clients.
func (x targetAt) gnmic(ctx context.Context, t *testing.T) client {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(x.keys, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	both := filepath.Join(x.keys, "client.pem")
	pair, err := tls.LoadX509KeyPair(both, both)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	c, err := api.NewTarget(api.Name("sw"), api.Address(x.addr), api.Timeout(patience),
		api.TLSConfig(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair},
			ServerName: "localhost"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CreateGNMIClient(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return client{c}
}

func (c client) set(ctx context.Context, t *testing.T, o api.GNMIOption) {
	t.Helper()
	req, err := api.NewSetRequest(o)
	if err == nil {
		_, err = c.Set(ctx, req)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ask returns the values at a path, as JSON.
func (c client) ask(ctx context.Context, path string) (string, error) {
	req, err := api.NewGetRequest(api.Path(path), api.EncodingJSON_IETF())
	if err != nil {
		return "", err
	}
	resp, err := c.Get(ctx, req)
	var b strings.Builder
	for _, n := range resp.GetNotification() {
		b.WriteString(values(n))
	}
	return b.String(), err
}

func values(n *gpb.Notification) string {
	var b strings.Builder
	for _, u := range n.GetUpdate() {
		b.Write(u.GetVal().GetJsonIetfVal())
	}
	return b.String()
}

func (c client) get(ctx context.Context, t *testing.T, path string) string {
	t.Helper()
	text, err := c.ask(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// once subscribes to a path once.
func (c client) once(ctx context.Context, t *testing.T, path string) string {
	t.Helper()
	req, err := api.NewSubscribeRequest(api.SubscriptionListModeONCE(), api.EncodingJSON_IETF(),
		api.Subscription(api.Path(path)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.SubscribeOnce(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range all {
		b.WriteString(values(r.GetUpdate()))
	}
	return b.String()
}

// stream subscribes to a path until the test ends, under a name of its own.
func (c client) stream(ctx context.Context, t *testing.T, name, path string,
	mode ...api.GNMIOption) (<-chan *gpb.SubscribeResponse, <-chan error) {
	t.Helper()
	req, err := api.NewSubscribeRequest(api.SubscriptionListModeSTREAM(), api.EncodingJSON_IETF(),
		api.Subscription(append(mode, api.Path(path))...))
	if err != nil {
		t.Fatal(err)
	}
	return c.SubscribeStreamChan(ctx, req, name)
}

// next waits for a response like that.
func next(t *testing.T, responses <-chan *gpb.SubscribeResponse, ended <-chan error,
	want func(*gpb.SubscribeResponse) bool) {
	t.Helper()
	for {
		select {
		case r := <-responses:
			if want(r) {
				return
			}
		case err := <-ended:
			t.Fatalf("the stream ended: %v", err)
		case <-time.After(patience):
			t.Fatal("nothing came")
		}
	}
}

// tells reports whether a response holds an update or a delete.
func tells(r *gpb.SubscribeResponse) bool {
	return len(r.GetUpdate().GetUpdate())+len(r.GetUpdate().GetDelete()) > 0
}
