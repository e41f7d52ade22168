// Package northbound calls a Lightloom controller's public API by JSON over HTTPS. It has the few calls that are needed
// here, and is no general client: this module does not import the controller's.
package northbound

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// Slice is a slice as the controller has it.
type Slice struct {
	Name    string   `json:"name"`
	Owner   string   `json:"owner"`
	Shape   string   `json:"shape"`
	State   string   `json:"state"`
	Reason  string   `json:"reason"`
	Message string   `json:"message"`
	Cubes   []int    `json:"cubes"`
	Hosts   []string `json:"hosts"`
}

// The states of a slice that matter here.
const (
	Ready  = "Ready"
	Failed = "Failed"
)

// Request asks for a slice: of a pod by its shape, of another fabric by hosts.
type Request struct {
	ID    string   `json:"requestId"`
	Name  string   `json:"name"`
	Shape string   `json:"shape,omitempty"`
	Owner string   `json:"owner"`
	Cubes []int    `json:"cubes,omitempty"`
	Hosts []string `json:"hosts,omitempty"`
}

// Host is a host of the fabric.
type Host struct {
	Name   string
	Rack   int
	Switch string // of its rack
}

// Cube reports whether a host is of a cube of a pod.
func (h Host) Cube() bool { return h.Switch == "cube"+strconv.Itoa(h.Rack) }

// Error is what the controller answers in place of a result. Code is one of the Connect protocol.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// IsUnknown reports whether the controller has nothing of that name.
func IsUnknown(err error) bool { return codeOf(err) == "not_found" }

// IsInvalid reports whether the same request would be refused again.
func IsInvalid(err error) bool {
	return codeOf(err) == "invalid_argument" || codeOf(err) == "permission_denied"
}

func codeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Bounds of what is waited for, and of what is read.
const (
	attempt = 5 * time.Second
	patient = 15 * time.Second
	pause   = 100 * time.Millisecond
	most    = 16 << 20 // bytes of an answer
	page    = 1000     // slices in one answer
)

// Client calls any replica that answers. Its methods can be called by several goroutines.
type Client struct {
	bases []string
	keys  string // file; empty: a socket

	mu   sync.Mutex
	http *http.Client
	had  os.FileInfo // of the keys that are shown
}

// Dial returns a client of the replicas at those addresses (host:port), which shows the certificate of a file that
// Lightloom wrote. Nothing is sent before the first call.
func Dial(servers []string, keys string) (*Client, error) {
	if len(servers) == 0 {
		return nil, errors.New("dial controller: no address is given: write --server HOST:PORT")
	}
	for _, s := range servers {
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("dial controller %q: it is no address: write HOST:PORT", s)
		}
	}
	if keys == "" {
		return nil, errors.New("dial controller: it asks for a certificate: write --keys FILE")
	}
	c := &Client{keys: keys}
	for _, s := range servers {
		c.bases = append(c.bases, "https://"+s)
	}
	if _, err := c.current(); err != nil {
		return nil, err
	}
	return c, nil
}

// current returns what calls go through. Keys are read again once their file has changed: certificates are renewed
// while this runs. While the new ones are no good, those from before are shown.
func (c *Client) current() (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == "" {
		return c.http, nil
	}
	now, err := os.Stat(c.keys)
	if err == nil && c.had != nil && os.SameFile(now, c.had) && now.ModTime().Equal(c.had.ModTime()) &&
		now.Size() == c.had.Size() {
		return c.http, nil
	}
	cfg, err := readKeys(c.keys)
	if err != nil {
		return c.http, err
	}
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	c.had = now
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true,
		IdleConnTimeout: time.Minute, TLSHandshakeTimeout: attempt}}
	return c.http, nil
}

// DialSocket returns a client of a replica of this machine, or of lightloom kube.
func DialSocket(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: attempt}).DialContext(ctx, "unix", path)
	}
	return &Client{http: &http.Client{Transport: &http.Transport{DialContext: dial}}, bases: []string{"http://local"}}
}

const service = "/lightloom.v1.Controller/"

// call asks one replica after the other until one answers, for a while. What cannot succeed is not asked again.
func (c *Client) call(ctx context.Context, name string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	for i := 0; ; i++ {
		err := c.once(ctx, c.bases[i%len(c.bases)], name, body, out)
		if err == nil || !again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("call the Lightloom controller: %w", err)
		case <-time.After(pause):
		}
	}
}

// again reports whether another replica, or the same one later, may answer otherwise.
func again(err error) bool {
	switch codeOf(err) {
	case "", "unavailable", "aborted", "deadline_exceeded", "canceled":
		return true
	}
	return false
}

func (c *Client) once(ctx context.Context, base, name string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+service+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Connect-Protocol-Version", "1")
	through, unread := c.current()
	resp, err := through.Do(r)
	if err != nil {
		return errors.Join(err, unread)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return err
	case len(text) > most:
		return &Error{Code: "internal", Message: fmt.Sprintf("%s: an answer above %d bytes", name, most)}
	case resp.StatusCode != http.StatusOK:
		return refusal(name, resp.Status, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return &Error{Code: "internal", Message: fmt.Sprintf("%s: read answer: %v", name, err)}
	}
	return nil
}

// refusal reads an error's text. What is none, such as a proxy's page, is worth another attempt.
func refusal(name, status string, text []byte) error {
	e := &Error{}
	if json.Unmarshal(text, e) != nil || e.Code == "" {
		return &Error{Code: "unavailable", Message: name + ": " + status}
	}
	return e
}

type read struct {
	Linearizable bool `json:"linearizable,omitempty"`
}

// Slices returns all slices that the caller may read, as they stand when it is called.
func (c *Client) Slices(ctx context.Context) (all []Slice, err error) {
	in := struct {
		PageSize  int    `json:"pageSize"`
		PageToken string `json:"pageToken,omitempty"`
		Read      read   `json:"read"`
	}{PageSize: page, Read: read{Linearizable: true}}
	for {
		var out struct {
			Slices        []Slice `json:"slices"`
			NextPageToken string  `json:"nextPageToken"`
		}
		if err := c.call(ctx, "ListSlices", in, &out); err != nil {
			return nil, err
		}
		all = append(all, out.Slices...)
		if out.NextPageToken == "" || out.NextPageToken == in.PageToken {
			return all, nil
		}
		in.PageToken = out.NextPageToken
	}
}

// Slice returns one slice, with all that can be said of why it waits.
func (c *Client) Slice(ctx context.Context, name string) (Slice, error) {
	in := struct {
		Name string `json:"name"`
		Read read   `json:"read"`
	}{name, read{Linearizable: true}}
	var out struct {
		Slice Slice `json:"slice"`
	}
	err := c.call(ctx, "GetSlice", in, &out)
	return out.Slice, err
}

// Create asks for a slice. The same request again changes nothing.
func (c *Client) Create(ctx context.Context, r Request) (Slice, error) {
	var out struct {
		Slice Slice `json:"slice"`
	}
	err := c.call(ctx, "CreateSlice", r, &out)
	return out.Slice, err
}

// Delete ends a slice. To end one that is not there changes nothing.
func (c *Client) Delete(ctx context.Context, name string) error {
	in := struct {
		Name string `json:"name"`
	}{name}
	if err := c.call(ctx, "DeleteSlice", in, &struct{}{}); err != nil && !IsUnknown(err) {
		return err
	}
	return nil
}

// Hosts returns the hosts of the fabric, in their order.
func (c *Client) Hosts(ctx context.Context) (all []Host, err error) {
	var out struct {
		Nodes []struct {
			Name string `json:"name"`
			Role string `json:"role"`
			Rack int    `json:"rack"`
		} `json:"nodes"`
	}
	if err := c.call(ctx, "GetFabric", struct{}{}, &out); err != nil {
		return nil, err
	}
	switches := map[int]string{}
	for _, n := range out.Nodes {
		if n.Role == "tor" {
			switches[n.Rack] = n.Name
		}
	}
	for _, n := range out.Nodes {
		if n.Role == "host" {
			all = append(all, Host{n.Name, n.Rack, switches[n.Rack]})
		}
	}
	return all, nil
}
