package scheduletest

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller/policy/circuits/schedule"
)

func TestRotor(t *testing.T) {
	s := Rotor(5, 100*time.Millisecond)
	m := schedule.New(5)
	for i := range m {
		for j := range m[i] {
			if i != j {
				m[i][j] = 90 * time.Millisecond
			}
		}
	}
	if err := s.Check(m, 10*time.Millisecond); err != nil || s.Long() != 400*time.Millisecond {
		t.Errorf("one turn of %v: %v", s.Long(), err)
	}
	m[0][1]++
	if s.Check(m, 10*time.Millisecond) == nil {
		t.Error("one turn carries more than a day a pair")
	}
}

// TestDetours shows when detours help: ten reconfiguration delays of δ = 10 ms are a slot that carries
// 90 ms.
func TestDetours(t *testing.T) {
	const ms, n = time.Millisecond, 8
	hot, even := schedule.New(n), schedule.New(n)
	hot[0][1] = 70 * 90 * ms
	for i := range even {
		for j := range even {
			if i != j {
				even[i][j] = 90 * ms
			}
		}
	}
	for _, tc := range []struct {
		name          string
		m             schedule.Matrix
		direct        int // slots
		detour        int
		twice, stored time.Duration
	}{
		// A pair alone has one slot of seven for itself: 70 turns, the last of which ends with its first
		// slot. With detours it sends in all seven, and six racks deliver in theirs.
		{"one hot pair", hot, 69*7 + 1, 74, 59 * 90 * ms, 90 * ms},
		{"all to all as much as a turn carries", even, 7, 7, 0, 0},
		{"nothing", schedule.New(n), 0, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := RotorLB(tc.m, 10*ms, 100*ms, false), RotorLB(tc.m, 10*ms, 100*ms, true)
			if a.Slots != tc.direct || a.Twice != 0 || a.Direct != total(tc.m) || a.Stored != 0 {
				t.Errorf("direct: %+v, want %d slots", a, tc.direct)
			}
			if b.Slots != tc.detour || b.Twice != tc.twice || b.Direct+b.Twice != total(tc.m) ||
				b.Stored != tc.stored {
				t.Errorf("with detours: %+v, want %d slots, %v twice, %v stored", b, tc.detour, tc.twice, tc.stored)
			}
		})
	}
}

func total(m schedule.Matrix) (sum time.Duration) {
	rows, _ := m.Sums()
	for _, r := range rows {
		sum += r
	}
	return sum
}

// TestDetoursDeliver: on random demands every bit of them arrives once, in one hop or two; without
// detours just when the pair with most for its turn is done; and with them never later than by one
// turn, and never sooner than the busiest port can carry it. Where demand is skewed they are faster
// over all.
func TestDetoursDeliver(t *testing.T) {
	direct, detour := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 3 + r.IntN(6)
		m := schedule.New(n)
		for range 1 + r.IntN(2*n) {
			if i, j := r.IntN(n), r.IntN(n); i != j {
				m[i][j] = time.Duration(r.IntN(3000)) * time.Millisecond
			}
		}
		const delta, slot = 10 * time.Millisecond, 100 * time.Millisecond
		a, b := RotorLB(m, delta, slot, false), RotorLB(m, delta, slot, true)
		if a.Direct != total(m) || b.Direct+b.Twice != total(m) {
			t.Fatalf("seed %d: %v are delivered of %v, and %v", seed, a.Direct, total(m), b.Direct+b.Twice)
		}
		want := 0 // the slot of the last turn of each pair
		for i := range m {
			for j, d := range m[i] {
				if d > 0 {
					turns := int((d + slot - delta - 1) / (slot - delta))
					want = max(want, (turns-1)*(n-1)+(j-i+n)%n)
				}
			}
		}
		least := int((m.Largest() + slot - delta - 1) / (slot - delta))
		if a.Slots != want || b.Slots < least || b.Slots > a.Slots+n-1 {
			t.Errorf("seed %d: %d slots direct, want %d; %d with detours, the busiest port takes %d",
				seed, a.Slots, want,
				b.Slots, least)
		}
		direct, detour = direct+a.Slots, detour+b.Slots
	}
	t.Logf("detours take %.3f of the slots", float64(detour)/float64(direct))
	if detour*10 > direct*9 {
		t.Errorf("%d slots with detours, %d without", detour, direct)
	}
}

// BenchmarkDetours computes what detours gain on 32 ports, for demands of three kinds of the same sum.
func BenchmarkDetours(b *testing.B) {
	const n, delta, slot = 32, 10 * time.Millisecond, 100 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 7))
	even, few, hot := schedule.New(n), schedule.New(n), schedule.New(n)
	sum := time.Duration(n*(n-1)) * 180 * time.Millisecond
	for i := range n {
		for j := range n {
			if i != j {
				even[i][j] = sum / (n * (n - 1))
			}
		}
		for k, j := range rng.Perm(n)[:4] {
			if i != j {
				few[i][j] += sum / n * time.Duration([]int{70, 15, 10, 5}[k]) / 100
			}
		}
		hot[i][(i+5)%n] = sum / n
	}
	for _, x := range []struct {
		name string
		m    schedule.Matrix
	}{{"even", even}, {"four_partners", few}, {"permutation", hot}} {
		for _, detour := range []bool{false, true} {
			name := x.name + "_direct"
			if detour {
				name = x.name + "_detours"
			}
			b.Run(name, func(b *testing.B) {
				var d Detours
				for b.Loop() {
					d = RotorLB(x.m, delta, slot, detour)
				}
				b.ReportMetric(float64(d.Slots), "slots")
				b.ReportMetric(d.Long.Seconds()/x.m.Largest().Seconds(), "long/largest")
				b.ReportMetric(float64(d.Twice)/float64(d.Direct+d.Twice), "two-hop-share")
				b.ReportMetric(d.Stored.Seconds(), "stored-s")
			})
		}
	}
}
