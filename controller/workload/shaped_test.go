package workload

import (
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// TestShaped: jobs have the sizes, widths and arrivals that were asked for, and the same under the same seed.
func TestShaped(t *testing.T) {
	d, err := ParseDrawn("synthetic:jobs=300,bytes=1MB-10GB,width=2-5,tail=0.8,rate=4/s,arrivals=poisson")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(7, 32, 0, nil)
	if err != nil || len(jobs) != 300 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if again, _ := d.Jobs(7, 32, 0, nil); !reflect.DeepEqual(jobs, again) {
		t.Error("the same seed draws other jobs")
	}
	if other, _ := d.Jobs(8, 32, 0, nil); reflect.DeepEqual(jobs, other) {
		t.Error("another seed draws the same jobs")
	}
	widths, large := map[int]int{}, 0
	for i := range jobs {
		bytes, senders, receivers := shapeOf(&jobs[i])
		if bytes < 1_000_000 || bytes > 10_000_000_000 {
			t.Errorf("job %d has %d bytes", i, bytes)
		}
		if bytes > 100_000_000 {
			large++
		}
		widths[senders]++
		widths[receivers]++
	}
	for w := range widths {
		if w < 2 || w > 5 {
			t.Errorf("a width of %d", w)
		}
	}
	if len(widths) != 4 {
		t.Errorf("widths %v, want each of 2 to 5", widths)
	}
	if large < 3 || large > 30 { // of a tail of 0.8, 2.4 % are above a hundred times the least
		t.Errorf("%d of 300 jobs have more than 100 MB", large)
	}
	if last := jobs[299].Arrival; jobs[0].Arrival != 0 || last < 55*time.Second || last > 95*time.Second {
		t.Errorf("arrivals from %v to %v, want 300 at four a second", jobs[0].Arrival, last)
	}
}

func shapeOf(j *controller.Job) (bytes pathmap.Bytes, senders, receivers int) {
	if len(j.Stages) == 2 {
		return j.Edges[0].Bytes, len(j.Stages[0].Tasks), len(j.Stages[1].Tasks)
	}
	from, to := map[int32]bool{}, map[int32]bool{}
	for _, f := range j.Edges[0].Flows {
		bytes += f.Bytes
		from[int32(f.Src)], to[int32(f.Dst)] = true, true
	}
	return bytes, len(from), len(to)
}

func TestShapedOneSize(t *testing.T) {
	d, err := ParseDrawn("synthetic:bytes=5MB,width=3,for=1s")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(1, 8, 0, nil)
	if err != nil || len(jobs) != 10 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for i := range jobs {
		if b, s, r := shapeOf(&jobs[i]); b != 5_000_000 || s != 3 || r != 3 ||
			jobs[i].Arrival != time.Duration(i)*100*time.Millisecond {
			t.Errorf("job %d: %d bytes, %d × %d at %v", i, b, s, r, jobs[i].Arrival)
		}
	}
	if _, err := d.Jobs(1, 1, 0, nil); err == nil {
		t.Error("jobs for one host are drawn")
	}
}
