package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// two is a pair of rows small enough for arithmetic by hand.
func two() []PolicyResult {
	ms := time.Millisecond
	moved := new(Moved)
	moved.ReconfigurationDelays.Add(11 * ms)
	moved.Darks.Add(4100 * time.Microsecond)
	return []PolicyResult{
		{
			Name: "a",
			Jobs: []JobResult{{ID: 1, Arrival: 100 * ms, End: 400 * ms}, {ID: 0, Arrival: 50 * ms, End: 150 * ms}},
			Coflows: []CoflowResult{{ID: 1, Arrival: 100 * ms, End: 400 * ms, Bytes: 90, Local: 10,
				Rack: 20, Bound: 10 * ms},
				{ID: 0, Arrival: 50 * ms, End: 150 * ms, Bytes: 10, Bound: 20 * ms}},
			ByNetwork: ByNetwork{EPS: 70, Basis: "payload"},
		},
		{
			Name: "b",
			Jobs: []JobResult{{ID: 0, Arrival: 50 * ms, End: 250 * ms}, {ID: 1, Arrival: 100 * ms, End: 200 * ms}},
			Coflows: []CoflowResult{{ID: 0, Name: "slow", Arrival: 50 * ms, End: 250 * ms, Bytes: 10},
				{ID: 1, Arrival: 100 * ms, End: 200 * ms, Bytes: 90, Local: 10, Rack: 20}},
			ByNetwork: ByNetwork{OCS: 35, EPS: 35}, MoveTimes: MoveTimes{ReconfigurationDelayAssumed: 5 * ms,
				DarkAsked: 4 * ms, DarkSource: "device", Moved: moved},
		},
	}
}

func TestSummarise(t *testing.T) {
	rows := two()
	rows[1].LeaderOutage = .3
	r := Summarise(Meta{Seed: 3}, rows)
	if r.Controller.LeaderOutageSeconds != .3 {
		t.Errorf("leader outage %v", r.Controller.LeaderOutageSeconds)
	}
	a, b := r.Policies[0], r.Policies[1]
	// a: makespan 400−50; CCT 100 and 300 ms. b: 250−50; 200 and 100 ms.
	if a.Makespan != .35 || a.CCT != (Seconds{Count: 2, Mean: .2, P50: .1, P90: .3, P95: .3,
		P99: .3, Max: .3}) {
		t.Errorf("a: %+v", a)
	}
	if a.BytesTotal != 100 || a.BytesLocal != 10 || a.BytesRack != 20 || a.BytesInter != 70 ||
		a.OCSShare != 0 ||
		b.OCSShare != .5 {
		t.Errorf("bytes: %+v, share %v", a, b.OCSShare)
	}
	if a.BoundMean != .015 || b.BoundMean != 0 {
		t.Errorf("mean bounds %v and %v, want 0.015 and none", a.BoundMean, b.BoundMean)
	}
	if a.Coflows[0].ID != 0 || a.Jobs[0].ID != 0 {
		t.Error("rows are not by id")
	}
	if b.ReconfigurationDelay != (ReconfigurationDelay{Assumed: 5000, Count: 1, P50: 11000,
		P90: 11000, P99: 11000,
		Marked: true}) ||
		b.Dark != (Dark{Asked: 4000, Count: 1, P50: 4100, P99: 4100, Source: "device"}) {
		t.Errorf("reconfiguration delay %+v, dark %+v", b.ReconfigurationDelay, b.Dark)
	}
	if b.Slower != (Slower{Count: 1, Of: 2, Worst: "slow", Ratio: 2}) {
		t.Errorf("slower %+v", b.Slower)
	}
	text := strings.Join(r.Losses, "\n")
	for _, part := range []string{"b makes 1 of 2 coflows slower than a does; the worst, slow, takes 2.00 times as long.",
		"b assumed a reconfiguration delay of 5.00 ms a move and had 11.0 ms (p90)"} {
		if !strings.Contains(text, part) {
			t.Errorf("losses do not say %q:\n%s", part, text)
		}
	}
	if strings.Contains(text, "b loses to a in") {
		t.Errorf("b has no greater figure than a:\n%s", text)
	}
	three := Summarise(Meta{}, append(two(), two()[0]))
	if text := strings.Join(three.Losses, "\n"); !strings.Contains(text,
		"a is beaten by b in makespan (+75.0 %), mean "+
			"CCT (+33.3 %)") {
		t.Errorf("losses: %s", text)
	}
	back := Summarise(Meta{}, []PolicyResult{two()[1], two()[0]})
	if text := strings.Join(back.Losses, "\n"); !strings.Contains(text,
		"a loses to b in makespan (0.350 s against "+
			"0.200 s, +75.0 %)") {
		t.Errorf("losses: %s", text)
	}
}

// TestFields compares report.json's keys with the names that tools rely on.
func TestFields(t *testing.T) {
	b, err := sample(1).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	has := func(v any, path string) bool {
		for _, key := range strings.Split(path, ".") {
			m, _ := v.(map[string]any)
			if v = m[key]; v == nil {
				return false
			}
		}
		return true
	}
	for _, path := range strings.Fields("fabric.kind fabric.dataplane fabric.privilege fabric.racks fabric.hosts " +
		"controller.replicas controller.leader_changes seed version") {
		if !has(v, path) {
			t.Errorf("report.json has no %s", path)
		}
	}
	for i, p := range v.(map[string]any)["policies"].([]any) {
		for _, path := range strings.Fields(`name makespan_seconds cct_seconds.mean cct_seconds.p50 cct_seconds.p95
			jct_seconds.mean jct_seconds.p50
			jct_seconds.p95 bytes_total bytes_ocs ocs_share reconfigurations reconfiguration_delay_microseconds.assumed
			reconfiguration_delay_microseconds.p50 reconfiguration_delay_microseconds.p99 dark_time_microseconds.asked
			dark_time_microseconds.p50 dark_time_microseconds.p99
			dark_time_microseconds.source
			packets_dropped_dark retransmissions anneal.place.evaluated anneal.place.accepted
			anneal.route.evaluated anneal.route.accepted`) {
			if !has(p, path) {
				t.Errorf("policy %d has no %s", i, path)
			}
		}
	}
}

// TestSameBytes: the order in which results were gathered decides nothing.
func TestSameBytes(t *testing.T) {
	a, b := sample(1), sample(1)
	for i := range b.results {
		slices.Reverse(b.results[i].Circuits)
		slices.Reverse(b.results[i].Coflows)
		slices.Reverse(b.results[i].Jobs)
	}
	seeds := b.Seeds
	b = Summarise(Meta{Version: b.Version, Title: b.Title, Seed: b.Seed, Workload: b.Workload,
		Fabric:     b.Fabric,
		Controller: b.Controller, Notes: b.Notes}, b.results)
	b.Seeds = seeds
	fa, errA := a.files(&Run{})
	fb, errB := b.files(&Run{})
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for i := range fa {
		if !bytes.Equal(fa[i].data, fb[i].data) {
			t.Errorf("%s differs", fa[i].name)
		}
	}
}

func TestHTML(t *testing.T) {
	bad := two()
	bad[1].Name = `<script>"&'`
	bad[1].Circuits = []CircuitInterval{{In: 0, Out: 1, Coflow: -1, Moving: 1e6, InService: 5e6, End: 9e8},
		{In: 1, Out: 0, Moving: 1e6, InService: 1e9, End: 9e8}}
	for name, r := range map[string]*Report{
		"sample": sample(1), "hostile names": Summarise(Meta{Title: "</title><b>"},
			bad), "nothing": Summarise(Meta{}, nil),
		"no circuits": Summarise(Meta{Fabric: Fabric{Racks: 100, Hosts: 2000, Spines: 40}}, two()[:1]),
	} {
		t.Run(name, func(t *testing.T) {
			page, err := r.HTML()
			if err != nil {
				t.Fatal(err)
			}
			text := string(page)
			for _, never := range []string{"<script", "http:", "https:", "<b>", "NaN", "Inf", "ZgotmplZ"} {
				if strings.Contains(text, never) {
					t.Errorf("the page holds %q", never)
				}
			}
			for i, s := range regexp.MustCompile(`(?s)<svg viewBox.*?</svg>`).FindAllString(text, -1) {
				d := xml.NewDecoder(strings.NewReader(s))
				for err = error(nil); err == nil; {
					_, err = d.Token()
				}
				if !errors.Is(err, io.EOF) {
					t.Errorf("picture %d: %v", i, err)
				}
			}
		})
	}
}

// TestHead: a policy's name can break before each part, and an empty table says why it is empty.
func TestHead(t *testing.T) {
	row := two()[0]
	row.Name = "a+b"
	page, err := Summarise(Meta{}, []PolicyResult{row}).HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`<th scope="col">a<wbr>+b</th>`, "there is nothing to compare it with"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page does not hold %s", part)
		}
	}
}

// TestMissingFigures: a policy without a figure that another has shows a dash.
func TestMissingFigures(t *testing.T) {
	rows := two()
	rows[1].Coflows[0].Deadline = time.Second
	var b bytes.Buffer
	if err := Summarise(Meta{}, rows).Table(&b); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`deadlines met +\S* *– +\S* *1 of 1`).Match(b.Bytes()) {
		t.Errorf("no dash beside 1 of 1:\n%s", b.String())
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := sample(1).Table(&b); err != nil {
		t.Fatal(err)
	}
	golden := "testdata/table.txt"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755),
			os.WriteFile(golden, b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("(-want +got; -update rewrites):\n%s", d)
	}
}

func TestWriteDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := CheckDir(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second replaces
		if err := sample(1).WriteDir(dir, &Run{Host: ThisHost()}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"circuits.csv", "coflows.csv", "policies.csv", "report.html", "report.json", "run.json"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %q", got)
	}
}

func TestWriteDirErrors(t *testing.T) {
	parent := t.TempDir()
	occupied := filepath.Join(parent, "file")
	if err := os.WriteFile(occupied, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"a file": occupied, "below a file": filepath.Join(occupied, "x"),
		"no such device": "/proc/lightloom/x"} {
		for what, err := range map[string]error{"check": CheckDir(dir),
			"write": sample(1).WriteDir(dir, &Run{})} {
			var disk *DiskError
			if !errors.As(err, &disk) || !strings.Contains(disk.Hint(), "--report-dir DIR") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	if got := names(t, parent); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left behind: %q", got)
	}
	for err, hint := range map[error]string{syscall.ENOSPC: "full", syscall.EDQUOT: "full",
		fs.ErrPermission: "may write",
		syscall.EROFS:    "may write", syscall.EIO: "another directory"} {
		if h := (&DiskError{"d", err}).Hint(); !strings.Contains(h, hint) {
			t.Errorf("%v: hint %q", err, h)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestBusy(t *testing.T) {
	// user 10, nice 1, system 5, idle 100, iowait 7, irq 2, softirq 3, steal 4: 25 hundredths are busy.
	d, err := busy("cpu  10 1 5 100 7 2 3 4 0 0\ncpu0 1 1 1 1 1 1 1 1\n")
	if err != nil || d != 250*time.Millisecond {
		t.Errorf("%v, %v", d, err)
	}
	for _, bad := range []string{"", "cpu 1 2", "cpu a b c d e f g h", "intr 1 2 3 4 5 6 7 8"} {
		if _, err := busy(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if d, err := MachineBusy(); err == nil && d <= 0 {
		t.Errorf("this machine: %v", d)
	}
}

func TestWaited(t *testing.T) {
	d, err := waited("some avg10=21.91 avg60=21.59 avg300=20.78 total=20199567\nfull avg10=0.00 total=7\n")
	if err != nil || d != 20199567*time.Microsecond {
		t.Errorf("%v, %v", d, err)
	}
	for _, bad := range []string{"", "some avg10=0.00", "some total=x", "full avg10=0.00 total=7"} {
		if _, err := waited(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if d, err := MachineWaited(); err == nil && d < 0 {
		t.Errorf("this machine: %v", d)
	}
}

func TestWords(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1234567: "1,234,567", 99.96: "100", 12.34: "12.3",
		9.996: "10.0",
		1.236: "1.24", 0.1234: "0.123", 0.00001234: "1.2e-05", -3.456: "-3.46"} {
		if got := sig(v); got != want {
			t.Errorf("sig(%v) = %q, want %q", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{10 * time.Second: "1s", time.Second: "100ms", 7 * time.Second: "1s",
		60 * time.Second: "10s", 0: "100ns"} {
		axis := timeAxis(d)
		if n := len(axis.Ticks); n < 5 || n > 11 || axis.Ticks[1].Text != want {
			t.Errorf("%v: ticks %v, want steps of %s", d, axis.Ticks, want)
		}
	}
}

// TestContents: the page lists the sections that it has.
func TestContents(t *testing.T) {
	has := func(p *page, anchor string) bool {
		return slices.ContainsFunc(p.contents(), func(s section) bool { return s.ID == anchor })
	}
	bare, full := &page{}, &page{Gantts: make([]picture, 1), Faults: make([]picture, 1)}
	for _, s := range []string{"circuits", "faults"} {
		if has(bare, s) || !has(full, s) {
			t.Errorf("section %q: a page without it lists it %v, one with it %v", s, has(bare, s), has(full, s))
		}
	}
}
