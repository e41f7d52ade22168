package circuits

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

const recordedLine = `{"policy":"p","not_before_ns":100000000,"not_after_ns":200000000,"in":0,"out":1,"coflow":7,` +
	`"anchor":{"job":3,"edge":1,"started_ns":50000000}}` + "\n"

func TestParseRecordedErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, err string }{
		{"no JSON", recordedLine + "\nin,out\n", "f:3: invalid character 'i'"},
		{"one port", strings.Replace(recordedLine, `"out":1`, `"out":0`, 1), "f:1: a circuit from port 0 to port 0"},
		{"no time", strings.Replace(recordedLine, "200000000", "5", 1), "f:1: from 100ms to 5ns is no time"},
		{"two policies", recordedLine + strings.Replace(recordedLine, `"p"`, `"q"`, 1),
			`f:2: a reservation of "q" after those of "p": record one policy a file`},
		{"fallback", strings.Replace(recordedLine, `"out"`, `"fallback":2,"out"`, 1), "f:1: fallback 2: take 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := ParseRecorded(strings.NewReader(tc.text), "f"); err == nil ||
				!strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("error %v, want %s…", err, tc.err)
			}
		})
	}
}

func FuzzParseRecorded(f *testing.F) {
	f.Add(recordedLine)
	f.Add("\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRecorded(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		v := recordedView(t)
		p := new(controller.Plan)
		r.Fill(v, nil, p)
		for _, x := range p.Reserve {
			if x.NotBefore < v.Now || x.NotAfter <= x.NotBefore || int(x.In) >= v.Fabric.OCSPorts() {
				t.Errorf("%q: plans %+v", text, x)
			}
		}
	})
}

// recordedView is a view at 300 ms of job 3's coflow of edge 1, which started at 250 ms.
func recordedView(t testing.TB) *controller.View {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=1")
	if err != nil {
		t.Fatal(err)
	}
	fabric, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &controller.View{Fabric: fabric, Now: 300 * time.Millisecond,
		Coflows: []controller.CoflowView{{ID: 2, Job: 3,
			Edge: 1, Started: true, Start: 250 * time.Millisecond, Src: []southbound.HostID{0}, Dst: []southbound.HostID{1},
			Size: []pathmap.Bytes{1000}, Ended: []bool{false}}}}
}

// TestRecorded: instants count from the start of the coflow, which has another id here.
func TestRecorded(t *testing.T) {
	const ms = time.Millisecond
	r := func(from, to time.Duration, c southbound.CoflowID) controller.CircuitReservation {
		return controller.CircuitReservation{NotBefore: from, NotAfter: to, In: 0, Out: 1, Coflow: c}
	}
	every := strings.Replace(recordedLine, `"coflow":7`, `"coflow":-1`, 1)
	for _, tc := range []struct {
		name, text string
		change     func(*controller.View)
		want       []controller.CircuitReservation
	}{
		{"due", recordedLine, func(*controller.View) {}, []controller.CircuitReservation{r(300*ms, 400*ms, 2)}},
		{"begins late", recordedLine, func(v *controller.View) { v.Now = 350 * ms },
			[]controller.CircuitReservation{r(350*ms, 400*ms, 2)}},
		{"over", recordedLine, func(v *controller.View) { v.Now = 400 * ms }, nil},
		{"stands", recordedLine, func(v *controller.View) {
			v.Reserved = []controller.CircuitReservation{r(300*ms, 400*ms, 2)}
		}, nil},
		{"waits for its port", recordedLine, func(v *controller.View) {
			v.Reserved = []controller.CircuitReservation{{NotAfter: 320 * ms, In: 0, Out: 2}}
		}, []controller.CircuitReservation{r(320*ms, 400*ms, 2)}},
		{"its port is taken again", recordedLine, func(v *controller.View) {
			v.Reserved = []controller.CircuitReservation{{NotBefore: 390 * ms, NotAfter: 500 * ms, In: 3, Out: 1}}
		}, []controller.CircuitReservation{r(300*ms, 390*ms, 2)}},
		{"stands, cut short", recordedLine, func(v *controller.View) {
			v.Reserved = []controller.CircuitReservation{r(300*ms, 390*ms, 2)}
		}, nil},
		{"the one before it stands", recordedLine, func(v *controller.View) {
			v.Now = 290 * ms
			v.Reserved = []controller.CircuitReservation{r(200*ms, 300*ms, 2)}
		}, []controller.CircuitReservation{r(300*ms, 400*ms, 2)}},
		{"not started", recordedLine, func(v *controller.View) { v.Coflows[0].Started = false }, nil},
		{"nothing left", recordedLine, func(v *controller.View) { v.Coflows[0].Ended[0] = true }, nil},
		{"another edge", recordedLine, func(v *controller.View) { v.Coflows[0].Edge = 0 }, nil},
		{"for every coflow", every, func(v *controller.View) { v.Coflows[0].Ended[0] = true },
			[]controller.CircuitReservation{r(300*ms, 400*ms, controller.AnyCoflow)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			part, err := ParseRecorded(strings.NewReader(tc.text), "f")
			if err != nil {
				t.Fatal(err)
			}
			v, p := recordedView(t), new(controller.Plan)
			tc.change(v)
			if part.Fill(v, nil, p); !slices.Equal(p.Reserve, tc.want) {
				t.Errorf("plans %+v, want %+v", p.Reserve, tc.want)
			}
		})
	}
}
