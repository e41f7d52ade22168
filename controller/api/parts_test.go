package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// failing answers every Status with one error.
type failing struct {
	apiv1connect.UnimplementedControllerHandler
	err error
}

func (f *failing) Status(context.Context,
	*connect.Request[apiv1.StatusRequest]) (*connect.Response[apiv1.StatusResponse], error) {
	return nil, encode(f.err)
}

// The table is what Connect really returns, and a code survives the way to the other side.
func TestCodesOnTheWire(t *testing.T) {
	seen := map[Code]bool{}
	for _, a := range answers() {
		if seen[a.code] {
			t.Errorf("code %q is in the table twice", a.code)
		}
		seen[a.code] = true
		_, h := apiv1connect.NewControllerHandler(&failing{err: &Error{a.code, errors.New("why")}})
		var status int
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			status = rec.Code
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(rec.Code)
			w.Write(rec.Body.Bytes())
		}))
		_, err := apiv1connect.NewControllerClient(srv.Client(), srv.URL).
			Status(t.Context(), connect.NewRequest(&apiv1.StatusRequest{}))
		got := decode(err)
		if CodeOf(got) != a.code || got.Error() != "why" || status != a.code.HTTPStatus() {
			t.Errorf("%s: came back as %s %q with status %d, the table says %d", a.code, CodeOf(got), got, status,
				a.code.HTTPStatus())
		}
		if a.code.ExitStatus() == 0 {
			t.Errorf("%s: exit status 0", a.code)
		}
		srv.Close()
	}
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want Code
	}{
		{fmt.Errorf("x: %w", ErrNotLeader), NotLeader},
		{fmt.Errorf("x: %w", ErrUncertain), Uncertain},
		{fmt.Errorf("x: %w", ErrTooLarge), TooLarge},
		{fmt.Errorf("x: %w", ErrBusy), Busy},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), Late},
		{context.Canceled, Canceled},
		{fmt.Errorf("x: %w", &Error{Denied, errors.New("y")}), Denied},
		{errors.New("x"), Internal},
		{&Error{"from the future", errors.New("x")}, "from the future"},
	} {
		if got := classify(tc.err); got.Code != tc.want || !strings.Contains(got.Error(), tc.err.Error()) {
			t.Errorf("classify %v: %s %q", tc.err, got.Code, got)
		}
	}
	if Code("from the future").HTTPStatus() != 500 {
		t.Error("an unknown code is not internal")
	}
}

func TestJobsSurviveTheWire(t *testing.T) {
	j := &controller.Job{
		Name: "job", User: "u", Arrival: 5, Weight: 1.5, Deadline: 7, Incremental: true,
		Predicted: &controller.Prediction{Input: 1, Shuffle: 2, Maps: 3, Reduces: 4, MapTime: 5, RedTime: 6},
		Stages: []controller.Stage{{Name: "map",
			Tasks: []controller.Task{{Compute: 1, Input: 8, Replicas: []southbound.RackID{3, 1}}, {Compute: 2, NonLocal: 9}}},
			{Name: "reduce", Tasks: []controller.Task{{}}}},
		Edges: []controller.Edge{
			{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1 << 40, Reducers: []int64{5, 0, 1 << 40}},
			{Kind: controller.OneToOne}, {Kind: controller.Broadcast},
			{Kind: controller.Fields, Stream: true, Keys: 7}, {Kind: controller.Global, Stream: true},
			{Kind: controller.Fixed, Flows: []controller.Flow{{Src: 1, Dst: 2, Bytes: 3, Count: 4}}},
			{Kind: controller.Fixed, Bytes: 5, Reads: &controller.Read{Job: "other", Kind: controller.OneToOne}},
			{Kind: controller.Fixed, To: 1, Reads: &controller.Read{Kind: controller.Broadcast,
				Hosts: []southbound.HostID{3, 0}}},
		},
	}
	got, err := jobFromWire(jobToWire(j))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(j, got); diff != "" {
		t.Error(diff)
	}
}

// TestStagesReadAllOrNothing: what some tasks read and others do not is said with zeros, and not by
// leaving them out.
func TestStagesReadAllOrNothing(t *testing.T) {
	for _, s := range []*apiv1.Stage{{ComputeNs: []int64{1, 2}, InputBytes: []int64{3}},
		{ComputeNs: []int64{1}, FarNs: []int64{3, 4}}} {
		if _, err := jobFromWire(&apiv1.Job{Stages: []*apiv1.Stage{s}}); err == nil ||
			!strings.Contains(err.Error(), "of all, or of none") {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// Any input is refused, or is a job that stays the same when sent on.
func FuzzJobFromWire(f *testing.F) {
	for _, j := range []*controller.Job{coflow("a"),
		{Name: "x", Stages: []controller.Stage{{Tasks: []controller.Task{{Compute: 3}}}}}} {
		b, err := proto.Marshal(jobToWire(j))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m apiv1.Job
		if proto.Unmarshal(b, &m) != nil {
			return
		}
		j, err := jobFromWire(&m)
		if err != nil {
			return
		}
		_ = j.Check(8, 16) // must not panic
		again, err := jobFromWire(jobToWire(j))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(j, again); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(10)
		ctx, cancel := context.WithCancel(t.Context())
		var live []uint64
		done := make(chan error, 1)
		go func() {
			done <- h.Events(ctx, 0, func(e Event) error { live = append(live, e.Seq); return nil })
		}()
		for n := range uint64(95) {
			h.Publish(Event{Seq: n + 1})
			h.Publish(Event{Seq: n}) // known
			synctest.Wait()
		}
		cancel()
		if err := <-done; err != nil || len(live) != 95 || !slices.IsSorted(live) {
			t.Errorf("a listener that keeps up: %v, %v", live, err)
		}
		listen := func(after uint64) (kinds []string, seqs []uint64) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { synctest.Wait(); cancel() }()
			if err := h.Events(ctx, after, func(e Event) error {
				kinds, seqs = append(kinds, e.Kind), append(seqs, e.Seq)
				return nil
			}); err != nil {
				t.Error(err)
			}
			return kinds, seqs
		}
		kinds, seqs := listen(3)
		if len(seqs) < 11 || kinds[0] != Gap || seqs[0] != seqs[1]-1 || seqs[len(seqs)-1] != 95 {
			t.Errorf("a listener that comes late: %v %v", kinds, seqs)
		}
		if _, seqs := listen(93); !slices.Equal(seqs, []uint64{94, 95}) {
			t.Errorf("a listener that resumes: %v", seqs)
		}
		if _, seqs := listen(1000); len(seqs) != 0 {
			t.Errorf("a listener from the future: %v", seqs)
		}
		stop := errors.New("stop")
		if err := h.Events(t.Context(), 0, func(Event) error { return stop }); err != stop {
			t.Errorf("a sink's error: %v", err)
		}
	})
}

func TestDialRefuses(t *testing.T) {
	for _, tc := range []struct {
		addrs []string
		want  string
	}{{nil, "no address"}, {[]string{"host"}, "write host:port"}, {[]string{"h:1"}, "no TLS identity"}} {
		if _, err := Dial(tc.addrs, nil); CodeOf(err) != Invalid {
			t.Errorf("dial %v: %v", tc.addrs, err)
		}
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Submitter = nil }, func(c *Config) { c.Listener = nil },
		func(c *Config) { c.ServerTLS = nil }, func(c *Config) { c.ClientTLS = nil },
	} {
		cfg := Config{ID: "x"}
		change(&cfg)
		if _, err := NewServer(cfg); err == nil {
			t.Error("an incomplete configuration is taken")
		}
	}
}

// TestFollow: a stream that ends without a word is asked for again after a pause, one that got further at
// once, until its listener has had enough.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, err := pki.New(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		id, err := ca.Issue(pki.Client, "a")
		if err != nil {
			t.Fatal(err)
		}
		c, err := Dial([]string{"127.0.0.1:1"}, id.Client("", pki.Controller))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		enough, began, n := errors.New("enough"), time.Now(), 0
		err = c.follow(t.Context(), func(context.Context, apiv1connect.ControllerClient) (bool, error) {
			if n++; n == 10 {
				return false, sinkError{enough}
			}
			return n > 5, nil // five in silence
		})
		if took := time.Since(began); took != 5*lastPause || !errors.Is(err, enough) {
			t.Errorf("five silent streams, and four that got further, take %v, want %v; %v", took,
				5*lastPause, err)
		}
	})
}
