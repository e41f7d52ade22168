package guideline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap"
)

// printed is Figure 4, by R_map and R_red from 1 to 15, in seconds.
func printed() [15][15]int {
	tail := func(head []int, jump int, rest int) (row [15]int) { // head, then rest from column jump on
		for c := range row {
			switch {
			case c+1 >= jump:
				row[c] = rest
			case c < len(head):
				row[c] = head[c]
			default:
				row[c] = head[len(head)-1]
			}
		}
		return row
	}
	wide := []int{211, 205, 203, 202, 202, 201}
	return [15][15]int{
		tail([]int{630}, 99, 0), tail([]int{379, 373}, 99, 0), tail([]int{295, 289, 287}, 99, 0),
		tail([]int{295, 289, 287, 286}, 99, 0), tail([]int{295, 289, 287, 286, 285}, 99, 0),
		tail(wide, 13, 401), tail(wide, 11, 372), tail(wide, 10, 351), tail(wide, 9, 334), tail(wide, 8, 320),
		tail(wide, 7, 309), tail(wide, 7, 300), tail(wide, 6, 292), tail(wide, 6, 286), tail(wide, 6, 280),
	}
}

// figure4 is the job and the cluster of Figure 4. The document gives tasks and slots; the rest is what
// its cells imply:
// 83.75 s a wave of maps, 115.4 s of reduces, 12.2 s and 1212 s of shuffle, products up to 75 over circuits.
func figure4() (*Cluster, *Job) {
	shuffle := pathmap.Bytes(85_500_000_000)
	c := &Cluster{Racks: 15, Slots: 600, Elephant: 1_125_000_000, Delta: 10 * time.Millisecond,
		OCS: pathmap.BitsPerSecond(float64(shuffle) * 8 / 12.2), EPS: pathmap.BitsPerSecond(float64(shuffle) * 8 / 1212)}
	return c, &Job{Shuffle: shuffle, Maps: 3472, Reduces: 169, MapTime: 83_750 * time.Millisecond,
		RedTime: 115_400 * time.Millisecond}
}

func TestFigure4(t *testing.T) {
	c, j := figure4()
	off := 0
	for m, row := range printed() {
		for r, want := range row {
			got := c.Latency(Figure4, j, m+1, r+1).Seconds()
			if math.Abs(got-float64(want)) > 0.6 {
				t.Errorf("R_map %d, R_red %d: %.2f s, the figure has %d", m+1, r+1, got, want)
			}
			if math.Abs(c.Latency(Equation10, j, m+1, r+1).Seconds()-float64(want)) > 0.6 {
				off++
			}
		}
	}
	if off < 100 {
		t.Errorf("Equation 10 misses only %d of 225 cells: the two forms were thought to differ", off)
	}
}

func TestZone(t *testing.T) {
	c, j := figure4()
	zone := c.Zone(Figure4, j, 15)
	if len(zone) == 0 || zone[0] != (Shape{6, 2}) {
		t.Fatalf("zone %v", zone)
	}
	for _, s := range zone {
		if !c.Optical(j.Shuffle, s.Maps, s.Reduces) {
			t.Errorf("%v lights nothing", s)
		}
	}
	if slices.Contains(zone, Shape{7, 11}) || !slices.Contains(zone, Shape{15, 5}) {
		t.Error("75 is the largest product that lights, 77 does not")
	}
	if got := c.RecurringRacks(Figure4, j); got != 5 { // 6, and three disjoint sets of 6 do not exist among 15
		t.Errorf("R_map %d", got)
	}
	c.Racks = 60
	if got := c.RecurringRacks(Figure4, j); got != 6 {
		t.Errorf("R_map %d among 60 racks", got)
	}
	if zone := c.Zone(Figure4, &Job{Shuffle: 1, Maps: 1, Reduces: 1}, 15); len(zone) != 0 {
		t.Errorf("a byte has a zone: %v", zone)
	}
}

func TestDataRacks(t *testing.T) {
	c := &Cluster{Racks: 60, Elephant: 1_125_000_000}
	for _, tc := range []struct {
		name  string
		input pathmap.Bytes
		sir   float64
		want  int
	}{
		{"nothing", 0, 1, 1},
		{"below the threshold: the root's floor is 0", 1_124_999_999, 1, 1},
		{"TeraSort of 10 GB", 10_000_000_000, 1, 2}, // √8.9
		{"no shuffle", 1 << 40, 0, 1},
		{"a third of the racks at most", 1 << 45, 1, 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := c.DataRacks(tc.input, tc.sir); got != tc.want {
				t.Errorf("%d racks, want %d", got, tc.want)
			}
		})
	}
	if got := (&Cluster{Racks: 2, Elephant: 1}).DataRacks(1<<40, 1); got != 1 {
		t.Errorf("%d racks of two", got)
	}
}

func TestSets(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		racks := 1 + r.IntN(20)
		size := 1 + r.IntN(racks)
		sets := Sets(r, racks, size)
		count := make([]int, racks)
		for _, s := range sets {
			if len(s) != size {
				t.Fatalf("seed %d: %v, want %d racks each", seed, sets, size)
			}
			once := map[int]bool{}
			for _, rack := range s {
				if once[rack] {
					t.Fatalf("seed %d: rack %d twice in %v", seed, rack, s)
				}
				once[rack] = true
				count[rack]++
			}
		}
		if 3*size <= racks && slices.Max(count) > 1 {
			t.Fatalf("seed %d: %v are not disjoint among %d racks", seed, sets, racks)
		}
	}
}

// TestTeraSort is the example of section III-A: two map racks, two reduce racks, four flows of 2.5 GB.
func TestTeraSort(t *testing.T) {
	c := &Cluster{Racks: 60, Slots: 200, Elephant: 1_125_000_000, OCS: 100 * pathmap.Gbps,
		Delta: 10 * time.Millisecond}
	all := c.Schedules([]pathmap.Bytes{5e9, 5e9}, 10, nil)
	if len(all) != 3 { // ⌊5 / 1.125⌋ is 4, but on four racks some would have two reduces: 1 GB, a mouse
		t.Fatalf("%d schedules: %v", len(all), all)
	}
	if !slices.Equal(all[1].Tasks, []int{5, 5}) || all[1].CCT != 2*(200*time.Millisecond+c.Delta) {
		t.Errorf("two racks: %v", all[1]) // 2.5 GB take 0.2 s, and each port has two of them
	}
	for i := 1; i < len(all); i++ {
		if all[i].CCT > all[i-1].CCT+time.Duration(2*i)*c.Delta {
			t.Errorf("more racks take longer by more than their circuits: %v", all)
		}
	}
}

// TestSchedulesHold: every schedule places every reduce, and makes an elephant of the least map output
// on each rack.
func TestSchedulesHold(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := &Cluster{Racks: 1 + r.IntN(30), Elephant: pathmap.Bytes(1 + r.IntN(1000)),
			OCS: pathmap.Gbps, Waves: r.IntN(3)}
		var sm []pathmap.Bytes
		for range 1 + r.IntN(6) {
			sm = append(sm, pathmap.Bytes(r.IntN(20_000)))
		}
		reduces := 1 + r.IntN(40)
		least := pathmap.Bytes(math.MaxInt64)
		for _, b := range sm {
			if b >= c.Elephant {
				least = min(least, b)
			}
		}
		for _, s := range c.Schedules(sm, reduces, nil) {
			sum := 0
			for _, d := range s.Tasks {
				sum += d
				if int64(least)*int64(d) < int64(c.Elephant)*int64(reduces) {
					t.Fatalf("seed %d: %v of %v: %d tasks are no elephant", seed, s, sm, d)
				}
			}
			if sum != reduces || len(s.Tasks) > c.Racks || s.CCT <= 0 {
				t.Fatalf("seed %d: %v of %d reduces on %d racks", seed, s, reduces, c.Racks)
			}
		}
	}
	c := &Cluster{Racks: 4, Elephant: 100, OCS: pathmap.Gbps}
	if all := c.Schedules([]pathmap.Bytes{99, 50}, 3, nil); all != nil {
		t.Errorf("mice have schedules: %v", all)
	}
	if all := c.Schedules([]pathmap.Bytes{1000}, 3, func(n int) bool {
		return n == 2
	}); len(all) != 1 || len(all[0].Tasks) != 2 {
		t.Errorf("a recurring job's zone is not kept: %v", all)
	}
}

// TestExploreIsOptimal holds ExploreSchedule against every choice of racks (the document proves it optimal).
func TestExploreIsOptimal(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		racks, slots := 2+r.IntN(4), 4
		free := make(Releases, racks)
		for i := range free {
			for range slots {
				free[i] = append(free[i], time.Duration(r.IntN(50)))
			}
			slices.Sort(free[i])
		}
		s := Schedule{CCT: time.Duration(r.IntN(10))}
		for range 1 + r.IntN(racks) {
			s.Tasks = append(s.Tasks, 1+r.IntN(slots))
		}
		c := &Cluster{Racks: racks}
		got, ok := c.Explore(s, free, nil)
		if !ok {
			t.Fatalf("seed %d: no racks for %v", seed, s)
		}
		if want := leastRelease(free, s.Tasks, 0, make([]bool, racks)); got.Ready != want {
			t.Fatalf("seed %d: released at %d, %d is possible", seed, got.Ready, want)
		}
	}
}

// leastRelease tries every assignment of racks.
func leastRelease(free Releases, d []int, i int, taken []bool) time.Duration {
	if i == len(d) {
		return 0
	}
	best := time.Duration(math.MaxInt64)
	for rack := range free {
		at, ok := free.at(rack, d[i])
		if taken[rack] || !ok {
			continue
		}
		taken[rack] = true
		best = min(best, max(at, leastRelease(free, d, i+1, taken)))
		taken[rack] = false
	}
	return best
}

func TestBest(t *testing.T) {
	c := &Cluster{Racks: 3}
	free := Releases{{0, 0, 90}, {0, 10, 20}, {5, 5, 5}}
	all := []Schedule{{Tasks: []int{3}, CCT: 30}, {Tasks: []int{2, 1}, CCT: 15}, {Tasks: []int{4}, CCT: 1}}
	got, ok := c.Best(all, free, nil)
	if !ok || got.End() != 15 || !slices.Equal(got.Racks, []int{0, 1}) {
		t.Errorf("%+v", got) // two on rack 0 and one on rack 1, both free now; four slots no rack has
	}
	if got, _ := c.Best(all[:1], free, []int64{0, 0, 9}); got.Racks[0] != 2 || got.End() != 35 {
		t.Errorf("%+v", got)
	}
	if _, ok := c.Best(all[2:], free, nil); ok {
		t.Error("four tasks stand on a rack of three slots")
	}
	// Two wavelengths: rack 1 is released second for two tasks, and holds more of the maps' output.
	wide := &Cluster{Racks: 3, Waves: 2}
	if got, _ := wide.Best([]Schedule{{Tasks: []int{2}}}, Releases{{0, 0}, {0, 7}, {9, 9}},
		[]int64{1, 5, 9}); got.Racks[0] != 1 {
		t.Errorf("%+v", got)
	}
}

func TestSIR(t *testing.T) {
	if r, known := SIR(0, 0); r != InitialSIR || known {
		t.Error(r, known)
	}
	if r, known := SIR(50, 200); r != 0.25 || !known {
		t.Error(r, known)
	}
}

// TestSection3B is the conclusion of section III-B: for the jobs of its example, nine and fifteen maps
// on three racks and three reduces, a unit from each map to each reduce, Co-scheduler takes case 2's
// spread of reduces, one on each rack, and not case 1's two on one. A unit is an elephant, so that
// nothing but the completion time decides.
func TestSection3B(t *testing.T) {
	const unit = pathmap.Bytes(125_000_000) // a second at 1 Gb/s
	c := &Cluster{Racks: 3, Slots: 15, Elephant: unit, OCS: pathmap.Gbps, Delta: 10 * time.Millisecond}
	free := make(Releases, c.Racks)
	for r := range free {
		free[r] = make([]time.Duration, c.Slots)
	}
	for _, maps := range []int{3, 5} { // of a rack
		each := pathmap.Bytes(3*maps) * unit // a rack's maps send a unit to each of three reduces
		all := c.Schedules([]pathmap.Bytes{each, each, each}, 3, nil)
		best, ok := c.Best(all, free, nil)
		if !ok || !slices.Equal(best.Tasks, []int{1, 1, 1}) {
			t.Fatalf("%d maps a rack: %+v", maps, best)
		}
		// From three racks to three others, each port has three circuits; case 1 has two reduces behind one port.
		if want := 3*time.Duration(maps)*time.Second + 3*c.Delta; best.CCT != want {
			t.Errorf("%d maps a rack: T(C) is %v, want %v", maps, best.CCT, want)
		}
		for _, s := range all {
			if len(s.Tasks) == 2 && s.CCT != 3*time.Duration(2*maps)*time.Second+3*c.Delta {
				t.Errorf("%d maps a rack: two reduces on one rack take %v", maps, s.CCT)
			}
		}
	}
}

// TestRemaining is Equation 12: a task that grows evenly and has done a quarter in 10 s needs 30 s more.
func TestRemaining(t *testing.T) {
	for _, tc := range []struct {
		elapsed  time.Duration
		progress float64
		want     time.Duration
	}{{10 * time.Second, 0.25, 30 * time.Second}, {10 * time.Second, 1, 0}, {10 * time.Second, 0, 0}} {
		if got := Remaining(tc.elapsed, tc.progress); got != tc.want {
			t.Errorf("%v at %v: %v, want %v", tc.elapsed, tc.progress, got, tc.want)
		}
	}
}
