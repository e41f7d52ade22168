package restconf

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lightloom/southbound"
)

// Config is how to reach a switch.
type Config struct {
	Name  string // in errors
	URL   string // the RESTCONF root, such as https://192.0.2.9:8008/api; the resource is below its /data
	Ports int32  // of each side

	TLS       *tls.Config // for https; nil: the machine's authorities are trusted
	Plaintext bool        // http, and on loopback addresses only

	User, Password string // of basic authentication; "" sends none

	Timeout  time.Duration // of one request whose context has no deadline; 0 means 5 s
	Every    time.Duration // between two questions of a Watch; 0 means 1 s
	MaxBytes int64         // of one answer; 0 means 4 MiB
}

const (
	resource  = "/data/optical-switch:cross-connects"
	mediaType = "application/yang-data+json"
)

// check fills in the defaults of a configuration, or returns an error.
func (c *Config) check() error {
	u, err := url.Parse(c.URL)
	if err != nil {
		return errors.New("the URL cannot be read") // its text can hold a password
	}
	host := net.ParseIP(u.Hostname())
	switch {
	case u.User != nil:
		return errors.New("the URL holds a user: credentials are named elsewhere")
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q is no RESTCONF root: write https://host:port/api", c.URL)
	case u.Scheme == "http" && !c.Plaintext:
		return fmt.Errorf("%q: plaintext is not asked for", c.URL)
	case u.Scheme == "http" && u.Hostname() != "localhost" && !host.IsLoopback():
		return fmt.Errorf("%q: plaintext is spoken on loopback addresses only", c.URL)
	case u.Scheme == "http" && c.User != "":
		return fmt.Errorf("%q: credentials are not sent in plaintext", c.URL)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q: scheme %q: write https", c.URL, u.Scheme)
	case c.Ports < 1 || c.Ports > 1<<14:
		return fmt.Errorf("%d ports: write 1 to %d", c.Ports, 1<<14)
	}
	c.URL = strings.TrimSuffix(c.URL, "/")
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Every == 0 {
		c.Every = time.Second
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 4 << 20
	}
	return nil
}

// client speaks HTTP with one switch.
type client struct {
	cfg  Config
	http *http.Client
}

func newClient(cfg Config) *client {
	return &client{cfg: cfg, http: &http.Client{
		// A redirect would carry credentials to where they were not meant for.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: cfg.TLS, TLSHandshakeTimeout: cfg.Timeout, MaxResponseHeaderBytes: 64 << 10,
			MaxConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, DialContext: (&net.Dialer{Timeout: cfg.Timeout}).DialContext,
		},
	}}
}

// answer is a switch's answer to a request that it has accepted.
type answer struct {
	body []byte
	etag string
}

// ask sends one request. match is an entity tag that the resource must still have; "" requires none.
func (c *client) ask(ctx context.Context, method, below string, body []byte, match string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+resource+below, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", method, err)
	}
	req.Header.Set("Accept", mediaType)
	if body != nil {
		req.Header.Set("Content-Type", mediaType)
	}
	if match != "" {
		req.Header.Set("If-Match", match)
	}
	if c.cfg.User != "" {
		req.SetBasicAuth(c.cfg.User, c.cfg.Password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, c.cfg.MaxBytes+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("%s: read the answer: %w", method, err)
	case int64(len(data)) > c.cfg.MaxBytes:
		return answer{}, fmt.Errorf("%s: the answer is longer than %d bytes", method, c.cfg.MaxBytes)
	case resp.StatusCode >= 300:
		return answer{}, fmt.Errorf("%s: %w", method, statusError(resp.StatusCode, data))
	}
	if method == http.MethodGet {
		if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil ||
			kind != mediaType {
			return answer{}, fmt.Errorf("%s: the answer is %q, and not %s", method,
				resp.Header.Get("Content-Type"), mediaType)
		}
	}
	return answer{data, resp.Header.Get("ETag")}, nil
}

// errChanged: the resource is no longer what was read.
var errChanged = errors.New("another client has changed the cross-connects meanwhile")

// statusError is what a status means, in the words that the switch gives (RFC 8040, section 7.1).
func statusError(code int, body []byte) error {
	err := fmt.Errorf("the switch answers %d %s%s", code, http.StatusText(code), reason(body))
	switch {
	case code == http.StatusPreconditionFailed:
		return fmt.Errorf("%w: %w", err, errChanged)
	case code == http.StatusMethodNotAllowed || code == http.StatusNotImplemented:
		return fmt.Errorf("%w: %w: %w", err, southbound.ErrUnsupported, southbound.ErrRefused)
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests &&
		code != http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", err, southbound.ErrRefused)
	}
	return err
}

// reason returns the switch's own words, cut to a line.
func reason(body []byte) string {
	var e struct {
		Errors struct {
			Error []struct {
				Tag     string `json:"error-tag"`
				Message string `json:"error-message"`
			} `json:"error"`
		} `json:"ietf-restconf:errors"`
	}
	if json.Unmarshal(body, &e) != nil || len(e.Errors.Error) == 0 {
		return ""
	}
	first := e.Errors.Error[0]
	text := first.Tag + ": " + first.Message
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return fmt.Sprintf(": %q", text)
}

// pairs reads the list. Where nothing is there, there are no pairs.
func (c *client) pairs(ctx context.Context) ([]Pair, string, error) {
	a, err := c.ask(ctx, http.MethodGet, "", nil, "")
	if err != nil {
		return nil, "", err
	}
	if len(a.body) == 0 { // 204: an empty container need not be there (RFC 8040, section 4.3)
		return nil, a.etag, nil
	}
	pairs, err := DecodePairs(a.body, c.cfg.Ports)
	return pairs, a.etag, err
}
