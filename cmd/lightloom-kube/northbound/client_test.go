package northbound

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// contract is a call as the controller takes and answers it; a test of the controller's module holds it to that.
type contract struct {
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer"`
}

func readContract(t *testing.T, name string) (c contract) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "contract", name+".json"))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve answers calls on a socket until the test ends.
func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api.sock")
	in, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener = in
	s.Start()
	t.Cleanup(s.Close)
	return DialSocket(path)
}

func TestCallsAreTheContract(t *testing.T) {
	ctx, two := t.Context(), []string{"h0-0", "h1-0"}
	for _, c := range []struct {
		contract string
		call     func(*Client) (any, error)
		want     any
	}{
		{"CreateSlice", func(c *Client) (any, error) {
			return c.Create(ctx, Request{ID: "kube-1-ab", Name: "kube-1", Owner: "kubernetes", Hosts: two})
		}, Slice{Name: "kube-1", Owner: "kubernetes", State: "Pending", Reason: "JustAsked", Hosts: two}},
		{"CreateSlice-shape", func(c *Client) (any, error) {
			return c.Create(ctx, Request{ID: "kube-2-ab", Name: "kube-2", Owner: "kubernetes", Shape: "2x2x4"})
		}, Slice{Name: "kube-2", Owner: "kubernetes", Shape: "2x2x4", State: Ready, Reason: "CircuitsLit",
			Cubes: []int{1, 5}}},
		{"CreateSlice-cubes", func(c *Client) (any, error) {
			return c.Create(ctx, Request{ID: "slice-3", Name: "slice-3", Owner: "kubernetes", Shape: "2x2x4",
				Cubes: []int{2, 5}})
		}, Slice{Name: "slice-3", Owner: "kubernetes", Shape: "2x2x4", State: "Pending", Reason: "JustAsked"}},
		{"DeleteSlice", func(c *Client) (any, error) { return nil, c.Delete(ctx, "kube-1") }, nil},
		{"ListSlices", func(c *Client) (any, error) { return c.Slices(ctx) },
			[]Slice{{Name: "kube-1", Owner: "kubernetes", Shape: "9x9x9", State: Failed, Reason: "ShapeImpossible",
				Message: "no such shape"}}},
		{"GetFabric", func(c *Client) (any, error) { return c.Hosts(ctx) }, []Host{{"h0-0", 0, "tor0"}, {"h1-0", 1, ""}}},
	} {
		t.Run(c.contract, func(t *testing.T) {
			want := readContract(t, c.contract)
			name, _, _ := strings.Cut(c.contract, "-")
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.URL.Path != "/lightloom.v1.Controller/"+name || !sameJSON(t, body, want.Request) {
					t.Errorf("it calls %s: %s, want %s", r.URL.Path, body, want.Request)
				}
				_, _ = w.Write(want.Answer)
			})
			if got, err := c.call(client); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("no JSON: %q, %q", a, b)
	}
	return reflect.DeepEqual(x, y)
}

// TestErrors: what can succeed later is tried again, and what cannot is not.
func TestErrors(t *testing.T) {
	answers := []struct {
		status int
		text   string
	}{
		{http.StatusBadGateway, "<html>"},
		{http.StatusServiceUnavailable, `{"code":"unavailable","message":"no leader"}`},
		{http.StatusBadRequest, `{"code":"invalid_argument","message":"no host is called h9-0"}`},
	}
	calls := 0
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answers[calls].status)
		_, _ = io.WriteString(w, answers[calls].text)
		calls++
	})
	_, err := c.Create(t.Context(), Request{})
	if !IsInvalid(err) || calls != 3 || err.Error() != "no host is called h9-0" {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

func TestDeleteAgain(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"code":"not_found","message":"no slice"}`)
	})
	if err := c.Delete(t.Context(), "kube-1"); err != nil {
		t.Error(err)
	}
}

// TestWatch: each frame tells of a change, and so does a stream that ends.
func TestWatch(t *testing.T) {
	want := readContract(t, "WatchSlices")
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		kind := r.Header.Get("Content-Type")
		if len(body) < 5 || !sameJSON(t, body[5:], want.Request) || kind != "application/connect+json" {
			t.Errorf("it sends %q", body)
		}
		for range 2 {
			head := make([]byte, 5)
			binary.BigEndian.PutUint32(head[1:], uint32(len(want.Answer)))
			_, _ = w.Write(append(head, want.Answer...))
		}
		_, _ = w.Write([]byte{endOfStream, 0, 0, 0, 2, '{', '}'})
	})
	told := 0
	c.Watch(ctx, func() {
		if told++; told == 3 {
			cancel()
		}
	})
	if told != 3 {
		t.Errorf("%d changes, want 2 and the end", told)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, '{', '}'})
	f.Add([]byte{2, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := strings.NewReader(string(data))
		for {
			if last, err := readFrame(in); last || err != nil {
				return
			}
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := parseKeys(data, testTime()); (c == nil) == (err == nil) {
			t.Error("neither keys nor an error, or both")
		}
	})
}
