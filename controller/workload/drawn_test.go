package workload

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

func drawn(t *testing.T, text string, seed uint64) []controller.Job {
	t.Helper()
	d, err := ParseDrawn(text)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(seed, 8, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		if err := jobs[i].Check(1, 1<<20); err != nil {
			t.Fatalf("%s, seed %d: %v", text, seed, err)
		}
	}
	return jobs
}

// TestStorm: the document's settings are the defaults, the same seed draws the same, another something else.
func TestStorm(t *testing.T) {
	jobs := drawn(t, "storm", 1)
	if len(jobs) != 100 || jobs[99].Arrival != 99*6*time.Second {
		t.Errorf("%d jobs, the last at %v", len(jobs), jobs[99].Arrival)
	}
	children := 0.0
	for i := range jobs {
		j := &jobs[i]
		if j.Tasks() != 12 || len(j.Stages) != 12 {
			t.Fatalf("job %d has %d tasks in %d stages", i, j.Tasks(), len(j.Stages))
		}
		children += float64(len(j.Edges))
		for s := range 2 {
			if b := spoutBytes(j, s); b < 1e6 || b > 100e6 {
				t.Errorf("job %d: spout %d emits %d bytes", i, s, b)
			}
		}
	}
	// N(2, 2) rounded, none below 0 and none beyond the bolts after it, over 12 stages: about 20 edges.
	if mean := children / 100; mean < 15 || mean > 25 {
		t.Errorf("%.1f edges a job", mean)
	}
	if !reflect.DeepEqual(jobs, drawn(t, "storm", 1)) || reflect.DeepEqual(jobs, drawn(t, "storm", 2)) {
		t.Error("not by the seed")
	}
}

// spoutBytes is what a spout sends to its first child: a whole copy.
func spoutBytes(j *controller.Job, s int) pathmap.Bytes {
	for _, e := range j.Edges {
		if e.From == s {
			return e.Bytes
		}
	}
	return 0
}

// TestStormForwards: what enters a bolt leaves it whole to each child, or split among them; circles add
// a tenth.
func TestStormForwards(t *testing.T) {
	for _, tc := range []struct {
		text  string
		split bool
	}{{"storm:jobs=50", false}, {"storm:jobs=50,forward=split",
		true}, {"storm:jobs=50,forward=split,cycles=1,parallel=3",
		true}} {
		circles := 0
		for _, j := range drawn(t, tc.text, 3) {
			in, out, children := make([]pathmap.Bytes, 12), make([]pathmap.Bytes, 12), make([]pathmap.Bytes, 12)
			for _, e := range j.Edges {
				if e.To <= e.From {
					circles++
					if e.Bytes != in[e.From]/10 {
						t.Errorf("%s: %d bytes go back of %d", tc.text, e.Bytes, in[e.From])
					}
					continue
				}
				in[e.To] += e.Bytes
				out[e.From] += e.Bytes
				children[e.From]++
			}
			for s := 2; s < 12; s++ {
				want := in[s] * children[s]
				if tc.split && children[s] > 0 {
					want = in[s]
				}
				if out[s] != want || in[s] == 0 {
					t.Fatalf("%s: bolt %d gets %d and sends %d to %d", tc.text, s-2, in[s], out[s], children[s])
				}
			}
		}
		if strings.Contains(tc.text, "cycles") != (circles > 0) {
			t.Errorf("%s: %d circles", tc.text, circles)
		}
	}
}

// TestHadoop: shuffles are log-uniform over eight decades, so that half of them lie below the geometric
// middle.
func TestHadoop(t *testing.T) {
	jobs := drawn(t, "hadoop:jobs=4000", 1)
	below := 0
	for i := range jobs {
		b := jobs[i].Edges[0].Bytes
		if b < 100 || b > 10e9 || jobs[i].Tasks() != 8 || jobs[i].Arrival != time.Duration(i)*time.Second {
			t.Fatalf("%+v", jobs[i])
		}
		if float64(b) < math.Sqrt(100*10e9) {
			below++
		}
	}
	if below < 1900 || below > 2100 {
		t.Errorf("%d of 4000 below 1 MB", below)
	}
}

// TestHadoopChain: each round writes to the file system and the next reads from there.
func TestHadoopChain(t *testing.T) {
	j := drawn(t, "hadoop:jobs=1,rounds=3,replicas=2,maps=6,reduces=3", 1)[0]
	var names []string
	for _, s := range j.Stages {
		names = append(names, s.Name)
	}
	want := "map1 reduce1 hdfs1.1 hdfs1.2 map2 reduce2 hdfs2.1 hdfs2.2 map3 reduce3"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("stages %s, want %s", got, want)
	}
	if len(j.Edges) != 3+2*2+2 {
		t.Errorf("%d edges", len(j.Edges))
	}
}

func TestHadoopFromSizes(t *testing.T) {
	d, err := ParseDrawn("hadoop:swim=jobs.tsv")
	if err != nil || d.Trace() != "jobs.tsv" {
		t.Fatal(d, err)
	}
	jobs, err := d.Jobs(1, 8, 0, []Size{{0, 7}, {2000, 70}, {300, 70}, {50, 70}})
	if err != nil || len(jobs) != 2 || jobs[0].Edges[0].Bytes != 2000 || jobs[1].Edges[0].Bytes != 300 ||
		jobs[1].Arrival != time.Second {
		t.Errorf("%+v, %v", jobs, err)
	}
	if _, err := d.Jobs(1, 8, 0, []Size{{50, 70}}); err == nil ||
		!strings.Contains(err.Error(), "none of 1 jobs shuffles") {
		t.Error(err)
	}
}

func TestBadDrawn(t *testing.T) {
	for text, want := range map[string]string{
		"spark":                `column 1: "spark" is unknown`,
		"storm:bolt=5":         "column 7: bolt: unknown key: write jobs, rate",
		"storm:jobs=5,jobs=6":  "column 14: jobs: given twice",
		"storm:jobs":           "no key with a value",
		"storm:jobs=0":         "no whole number from 1",
		"storm:bytes=5MB-1MB":  "the least first",
		"storm:bytes=5":        "no unit of size",
		"storm:rate=10":        "no rate such as",
		"storm:rate=0/s":       "no rate such as",
		"storm:forward=both":   "write copy or split",
		"storm:cycles=2":       "take 0 to 1",
		"storm:jobs=5,for=10m": "leave one out",
		"hadoop:rounds=5000":   "take 1 to",
		"hadoop:maps=70000":    "maps",
		"kmeans:rounds=101":    "take 1 to 100",
		"ml:jobs=5":            "jobs: unknown key: write chains, rate",
		"dag:maps=70000":       "maps",
		"bayes:bytes=900PB":    "bytes",
		"tpch:chains=3,for=1h": "chains and for both",
		"synthetic:maps=3":     "maps: unknown key: write jobs, rate, for, arrivals, bytes, width, tail",
		"synthetic:width=5-2":  "write the least first",
		"synthetic:width=0":    "no whole number from 1",
		"synthetic:width=9999": "take 1 to 1024",
		"synthetic:tail=0.001": "take 0.01 to 100",
		"synthetic:tail=NaN":   "no number",
	} {
		d, err := ParseDrawn(text)
		if err == nil {
			_, err = d.Jobs(1, 8, 0, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestDrawnFor(t *testing.T) {
	if n := len(drawn(t, "storm:rate=10/min,for=5m", 1)); n != 50 {
		t.Errorf("%d jobs, want 50", n)
	}
	if jobs := drawn(t, "hadoop:for=1m,arrivals=poisson,bytes=1MB", 1); len(jobs) != 60 ||
		jobs[1].Arrival == time.Second || jobs[5].Edges[0].Bytes != 1e6 {
		t.Errorf("%d jobs, the second at %v", len(jobs), jobs[1].Arrival)
	}
}

func FuzzParseDrawn(f *testing.F) {
	f.Add("storm:jobs=5,rate=10/min,bytes=1MB-2MB,forward=split")
	f.Add("hadoop:for=10s,rounds=2")
	f.Add("tpch:for=10m,maps=3")
	f.Add("pagerank:chains=2,rounds=3,bytes=1GB")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "swim") {
			return
		}
		d, err := ParseDrawn(text)
		if err != nil {
			return
		}
		switch {
		case d.storm != nil:
			d.storm.Jobs = 2
		case d.chains != nil:
			if d.chains.Chains = 2; d.chains.Maps > 100 || d.chains.Reduces > 100 {
				return
			}
		default:
			d.hadoop.Jobs = 2
		}
		if d.storm != nil && d.storm.Parallel*d.storm.Bolts > 1000 || d.hadoop != nil &&
			d.hadoop.Rounds*d.hadoop.Maps*d.hadoop.Reduces > 1e5 {
			return
		}
		jobs, err := d.Jobs(1, 8, 0, nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for i := range jobs {
			_ = jobs[i].Check(1, 1<<30)
		}
	})
}
