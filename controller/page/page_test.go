package page

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mostZipped is how many bytes the page has, as a browser loads it.
const mostZipped = 60_000

// TestFiles: the page is small, and the libraries are those that SHA256SUMS names, with their licences.
func TestFiles(t *testing.T) {
	all, err := files()
	must(t, err)
	sums, sum := string(all["/vendor/SHA256SUMS"].plain), 0
	for name, f := range all {
		dir, base := path.Split(name)
		if dir != "/vendor/" {
			sum += len(f.zip)
			continue
		}
		if path.Ext(base) == ".txt" || base == "SHA256SUMS" {
			continue
		}
		sum += len(f.zip)
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(f.plain), base); !strings.Contains(sums, want) {
			t.Errorf("SHA256SUMS lacks %q", want)
		}
		lib := strings.ReplaceAll(strings.TrimSuffix(base, path.Ext(base)), "hooks", "preact")
		if len(all["/vendor/LICENSE."+lib+".txt"].plain) == 0 {
			t.Errorf("%s has no licence beside it", base)
		}
	}
	t.Logf("%d bytes zipped", sum)
	if sum > mostZipped {
		t.Errorf("the page has %d bytes zipped, at most %d", sum, mostZipped)
	}
}

// TestGuard: a ticket is good once, the cookie that it gives is good from then on, and what comes from elsewhere is
// refused.
func TestGuard(t *testing.T) {
	g := &guard{port: "8080"}
	h := g.protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }))
	ask := func(method, target string, header ...string) *http.Response {
		r := httptest.NewRequest(method, "http://127.0.0.1:8080"+target, nil)
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	ticket := g.ticket()
	if r := ask("GET", "/?ticket="+ticket, "Host", "evil.example:8080"); r.StatusCode != http.StatusForbidden {
		t.Errorf("another host is answered %s", r.Status)
	}
	r := ask("GET", "/?ticket="+ticket)
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/" || len(r.Cookies()) != 1 {
		t.Fatalf("the ticket is answered %s, to %q, with %d cookies", r.Status,
			r.Header.Get("Location"), len(r.Cookies()))
	}
	c := r.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie %v can leave the page", c)
	}
	in, json := []string{"Cookie", c.Name + "=" + c.Value}, []string{"Content-Type", "application/json"}
	own := []string{"Origin", "http://127.0.0.1:8080"}
	for _, x := range []struct {
		name, method, target string
		header               [][]string
		want                 int
	}{
		{"no cookie", "GET", "/", nil, http.StatusUnauthorized},
		{"used ticket", "GET", "/?ticket=" + ticket, nil, http.StatusUnauthorized},
		{"no such ticket", "GET", "/?ticket=A", nil, http.StatusUnauthorized},
		{"cookie", "GET", "/", [][]string{in}, http.StatusOK},
		{"used ticket, but in", "GET", "/?ticket=" + ticket, [][]string{in}, http.StatusSeeOther},
		{"cookie of another", "GET", "/", [][]string{{"Cookie", c.Name + "=A"}}, http.StatusUnauthorized},
		{"localhost", "GET", "/", [][]string{in, {"Host", "localhost:8080"}}, http.StatusOK},
		{"other host", "GET", "/", [][]string{in, {"Host", "rebound.example:8080"}}, http.StatusForbidden},
		{"other port", "GET", "/", [][]string{in, {"Host", "127.0.0.1:8081"}}, http.StatusForbidden},
		{"other origin", "GET", "/looks", [][]string{in, {"Origin", "http://127.0.0.1:8081"}},
			http.StatusForbidden},
		{"other site", "GET", "/looks", [][]string{in, {"Sec-Fetch-Site", "cross-site"}}, http.StatusForbidden},
		{"link", "GET", "/", [][]string{in, {"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Mode", "navigate"}}, http.StatusOK},
		{"change", "POST", "/do/break", [][]string{in, json, own}, http.StatusOK},
		{"change without a cookie", "POST", "/do/break", [][]string{json, own}, http.StatusUnauthorized},
		{"change without origin", "POST", "/do/break", [][]string{in, json}, http.StatusForbidden},
		{"change of a form", "POST", "/do/break", [][]string{in, own, {"Content-Type", "text/plain"}},
			http.StatusForbidden},
		{"change by GET of a form", "PUT", "/do/break", [][]string{in, own, json}, http.StatusForbidden},
	} {
		var header []string
		for _, h := range x.header {
			header = append(header, h...)
		}
		if r := ask(x.method, x.target, header...); r.StatusCode != x.want {
			body, _ := io.ReadAll(r.Body)
			t.Errorf("%s: %s %s is answered %s, want %d: %s", x.name, x.method, x.target, r.Status, x.want, body)
		}
	}
	for range 2 * mostKept {
		g.ticket()
	}
	if len(g.tickets) != mostKept {
		t.Errorf("%d tickets are kept, want %d", len(g.tickets), mostKept)
	}
}

// TestHub: a watcher is sent everything once, then what has changed; one that did not read is sent what is so in the
// end.
func TestHub(t *testing.T) {
	h := newHub(nil, 0)
	look := func(now float64, leader string) *Look { return &Look{Head: Head{Now: now, Leader: leader}} }
	h.publish(look(1, "a"), nil)
	w := h.join()
	if got := h.take(w); got != nil {
		t.Errorf("what is old is sent: %s", got)
	}
	h.publish(look(2, "a"), nil)
	first := string(h.take(w))
	for _, want := range []string{`"head":{"now":2`, `"jobs":null`, `"trouble":""`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first look lacks %s: %s", want, first)
		}
	}
	if got := h.take(w); got != nil {
		t.Errorf("nothing has changed, and %s is sent", got)
	}
	h.publish(look(3, "a"), nil)
	h.publish(look(4, "b"), nil)
	h.publish(nil, io.ErrUnexpectedEOF)
	if got := string(h.take(w)); !strings.HasPrefix(got, `{"head":{"now":4,"leader":"b"`) ||
		!strings.HasSuffix(got, `,"trouble":"unexpected EOF"}`) {
		t.Errorf("after three changes %s is sent", got)
	}
	h.leave(w)
	if h.watched() {
		t.Error("a watcher that has left is there")
	}
}

// FuzzAsked: whatever a page posts is read or refused.
func FuzzAsked(f *testing.F) {
	f.Add(`{"kind":"link","name":"tor0-spine0","heal":true}`)
	f.Add(`{"port":"tor0:3","seconds":5}`)
	f.Fuzz(func(_ *testing.T, text string) {
		var a asked
		_ = a.read(strings.NewReader(text))
	})
}

// TestFromState: what a page shows of a state is what the state says: circuits with their jobs, demand between racks
// with what is granted, and where a job is.
func TestFromState(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	d := state.New(f).Data()
	job := &state.Job{Job: controller.Job{ID: 3, Name: "copy", Edges: make([]controller.Edge, 1)},
		Placed:  state.Unset,
		Started: time.Second, Ended: state.Unset}
	c := &state.Coflow{ID: 0, Job: 3, Started: time.Second, Ended: state.Unset, Bytes: 300,
		Local: 100, Rack: 100,
		Tag: []southbound.Tag{southbound.TagCircuit, 0}, Done: []bool{false, false}}
	c.Columns = controller.Columns{Src: []southbound.HostID{0, 0}, Dst: []southbound.HostID{2, 1},
		Size: []pathmap.Bytes{200, 100}}
	d.Jobs, d.Coflows = []*state.Job{job}, []*state.Coflow{c}
	d.Circuits[0] = state.Circuit{Out: 1, Phase: controller.InService, Coflow: 0}
	d.Circuits[2] = state.Circuit{Out: 3, Phase: controller.Reconfiguring, Coflow: controller.AnyCoflow}
	var l Look
	l.FromState(f, d, 2*time.Second, nil)
	if a := l.Circuits; len(a) != 2 || !a[0].Lit || a[0].Job != 3 || a[1].Lit || a[1].Job != -1 {
		t.Errorf("circuits %+v", l.Circuits)
	}
	d.Circuits[0].Coflow = controller.AnyCoflow
	if l.circuits(f, d); l.Circuits[0].Job != 3 {
		t.Errorf("a circuit for any coflow, which job 3 uses, is shown for job %d", l.Circuits[0].Job)
	}
	if l.Demand.Total != 200 || l.Demand.OnLight != 200 || l.Demand.Pairs != 2 || l.Demand.Granted[0] != 3 ||
		l.Demand.Granted[1] != 2 {
		t.Errorf("demand %+v", l.Demand)
	}
	j := l.Jobs[0]
	want := []string{"it is on 3 hosts of 2 racks",
		"of its bytes so far 25 % stay in a host, 25 % in a rack, 50 % cross racks",
		"1 of 2 open host flows are steered to light"}
	if !slices.Equal(j.Here, want) || j.Left != 300 || !slices.Equal(j.Hosts, []int32{0, 1, 2}) {
		t.Errorf("job %+v", j)
	}
}

// TestTried: a failure is told by what it would cut: circuits, host flows, and pairs of racks without another path.
func TestTried(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=3,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	paths, err := f.PathMap(f.Spec.PathsKept(), 1)
	must(t, err)
	d := state.New(f).Data()
	d.Jobs = []*state.Job{{Job: controller.Job{ID: 0, Name: "copy"}}}
	c := &state.Coflow{Started: 0, Ended: state.Unset, Tag: []southbound.Tag{southbound.TagCircuit},
		Done: []bool{false}}
	c.Columns = controller.Columns{Src: []southbound.HostID{0}, Dst: []southbound.HostID{1},
		Size: []pathmap.Bytes{9}}
	d.Coflows = []*state.Coflow{c}
	d.Circuits[0] = state.Circuit{Out: 1, Phase: controller.InService}
	for _, x := range []struct {
		part Failed
		want string
	}{
		{Failed{"link", "tor0-ocs"}, "1 circuit would go dark; 1 host flow would take another path; " +
			"jobs that notice: 0 copy"},
		{Failed{"link", "tor0-spine0"}, "nothing that runs now would notice"},
		{Failed{"switch", "tor2"}, "4 pairs of racks would have no path over packets"},
		{Failed{"switch", "tor0"}, "1 circuit would go dark; 1 host flow would stop until it heals; 4 pairs of racks would " +
			"have no path over packets; jobs that notice: 0 copy"},
	} {
		cut, err := cutBy(f, x.part)
		must(t, err)
		if got := strings.Join(tried(f, paths, d, x.part, cut)[1:], "; "); got != x.want {
			t.Errorf("%v: %q, want %q", x.part, got, x.want)
		}
	}
	if _, err := cutBy(f, Failed{"link", "tor0-tor9"}); err == nil {
		t.Error("a link that is not there can be tried")
	}
}

// TestSteeredNow: what a page shows as sent over light is what is sent so, over any circuit between two cubes of a pod,
// and not what the policy chose for packets.
func TestSteeredNow(t *testing.T) {
	spec, err := topo.ParseSpec("pod:cubes=3,side=2,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	s := state.New(f)
	pod := state.PodOf(f)
	x := pod.Asked("a", torus.Box(2, 2, 4), []int{0, 1})
	x = torus.Settle(pod, state.SliceRule(), []torus.Slice{x}, make([]torus.Lack, 1))[0]
	entries := []state.Entry{{Kind: state.SliceSet, Planning: state.Planning{Slice: &state.Slice{Slice: x}}},
		{Kind: state.JobAccepted, Job: &controller.Job{Name: "copy", Edges: []controller.Edge{{Kind: controller.Fixed,
			Flows: []controller.Flow{{Src: 0, Dst: 8, Bytes: 5}, {Src: 1, Dst: 9, Bytes: 5}, {Src: 2, Dst: 17, Bytes: 5}}}}}},
		{Kind: state.Placed, Placement: &controller.Placement{Job: 0}},
		{Kind: state.Routed, Routing: &controller.Routing{Coflow: 0, Tags: make([]southbound.Tag, 3)}},
		{Kind: state.CoflowStarted, Coflow: 0}}
	must(t, state.SlicePorts(f, &x, func(in, out southbound.Port) {
		entries = append(entries, state.Entry{Kind: state.CircuitReserved,
			CircuitReservation: &controller.CircuitReservation{In: in, Out: out, NotAfter: southbound.Never,
				Coflow: controller.AnyCoflow}}, state.Entry{Kind: state.CircuitReservationBegun, Port: in},
			state.Entry{Kind: state.CircuitIntended, Port: in, Out: out, Coflow: controller.AnyCoflow},
			state.Entry{Kind: state.CircuitSettled, Port: in, Out: out, OK: true})
	}))
	must(t, s.ApplyAll(entries))
	d := steeredNow(s)
	var l Look
	l.FromState(f, d, time.Second, nil)
	if here := l.Jobs[0].Here; !slices.Contains(here, "2 of 3 open host flows are steered to light") {
		t.Errorf("%q", here)
	}
	if n := len(steered(f, d)); n != 1 {
		t.Errorf("%d pairs of cubes use light", n)
	}
	paths, err := f.PathMap(f.Spec.PathsKept(), 1)
	must(t, err)
	lost := 0
	for ocs := range f.OCSes() {
		cut, err := cutBy(f, Failed{"switch", fmt.Sprint("ocs", ocs)})
		must(t, err)
		if strings.Contains(strings.Join(tried(f, paths, d, Failed{"switch", "x"}, cut), "; "), "take another path") {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no switch takes a host flow with it")
	}
}
