package api

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"

	"lightloom/controller/api/v1/apiv1connect"
)

// DialThrough returns a client of what answers at the other end of the connections that dial makes: a
// Proxy, or a replica.
func DialThrough(dial func(context.Context) (net.Conn, error)) *Client {
	h := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx)
	}}}
	return &Client{Patience: DefaultPatience, Attempt: DefaultAttempt, http: h,
		callers: []apiv1connect.ControllerClient{newCaller(h, "http://local")}}
}

// Proxy hands calls of others on in this client's name: to the replica that answered last, and after
// one has refused, to the next.
func (c *Client) Proxy() http.Handler {
	at := func() int { c.mu.Lock(); defer c.mu.Unlock(); return c.last }
	turn := func(from int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.last == from {
			c.last = (from + 1) % len(c.callers)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := at()
		p := httputil.ReverseProxy{Transport: c.http.Transport, FlushInterval: -1,
			Rewrite: func(p *httputil.ProxyRequest) {
				p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "https", c.addrs[i], c.addrs[i]
			},
			ModifyResponse: func(resp *http.Response) error {
				if resp.StatusCode == http.StatusServiceUnavailable {
					turn(i)
				}
				return nil
			},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
				turn(i)
				w.WriteHeader(http.StatusBadGateway) // clients take it for unavailable, and ask again
			}}
		p.ServeHTTP(w, r)
	})
}
