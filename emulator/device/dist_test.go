package device_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/device"
)

func TestParseDelays(t *testing.T) {
	tests := []struct {
		name, text, back, err string
	}{
		{name: "empty", text: "", back: ""},
		{name: "constant", text: "dark=10ms", back: "dark=10ms"},
		{name: "all", text: "detect=50us, lock=normal(2ms,1ms),dark=uniform(1ms, 3ms),apply=exp(1ms,2ms,9ms)",
			back: "apply=exp(1ms,2ms,9ms),dark=uniform(1ms,3ms),lock=normal(2ms,1ms),detect=50µs"},
		{name: "truncated", text: "dark=normal(10ms,1ms,8ms,12ms)", back: "dark=normal(10ms,1ms,8ms,12ms)"},
		{name: "unbounded", text: "lock=exp(0s,2ms)", back: "lock=exp(0s,2ms)"},
		{name: "unknown stage", text: "darkness=10ms", err: "apply, dark, lock or detect"},
		{name: "twice", text: "dark=1ms,dark=2ms", err: "given twice"},
		{name: "no unit", text: "dark=10", err: "write a duration such as 10ms"},
		{name: "unknown shape", text: "dark=gauss(1ms,2ms)", err: "normal(MEAN,SD)"},
		{name: "arguments", text: "dark=uniform(1ms)", err: "uniform(A,B)"},
		{name: "bracket", text: "dark=uniform(1ms,2ms", err: "')' is missing"},
		{name: "order", text: "dark=uniform(2ms,1ms)", err: "write uniform(1ms,2ms)"},
		{name: "negative", text: "dark=-1ms", err: "below zero"},
		{name: "huge", text: "dark=90000h", err: "above 24h"},
		{name: "mean outside", text: "dark=normal(1ms,1ms,5ms,9ms)", err: "outside its bounds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := device.ParseDelays(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || d.String() != tt.back {
				t.Errorf("got %q, %v, want %q", d, err, tt.back)
			}
		})
	}
}

func TestDraws(t *testing.T) {
	tests := []struct {
		text     string
		lo, hi   time.Duration
		mean, by time.Duration
	}{
		{"3ms", 3 * ms, 3 * ms, 3 * ms, 0},
		{"uniform(1ms,3ms)", ms, 3 * ms, 2 * ms, 20 * time.Microsecond},
		{"normal(10ms,1ms)", 0, 20 * ms, 10 * ms, 30 * time.Microsecond},
		{"normal(10ms,5ms,8ms,12ms)", 8 * ms, 12 * ms, 10 * ms, 40 * time.Microsecond},
		{"exp(1ms,2ms)", ms, time.Second, 3 * ms, 60 * time.Microsecond},
		// 1 + 2 − 3·e^−1.5/(1−e^−1.5) ms
		{"exp(1ms,2ms,4ms)", ms, 4 * ms, 2*ms + 138*time.Microsecond, 60 * time.Microsecond},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			d, err := device.ParseDist(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 1))
			sum := time.Duration(0)
			const n = 20000
			for range n {
				x := d.Draw(r)
				if x < tt.lo || x > tt.hi {
					t.Fatalf("%v is outside %v to %v", x, tt.lo, tt.hi)
				}
				sum += x
			}
			if off := (sum/n - tt.mean).Abs(); off > tt.by {
				t.Errorf("mean %v, want %v", sum/n, tt.mean)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	d, err := device.ParseDelays("apply=1ms,dark=uniform(0s,10ms),lock=2ms")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		p    float64
		want time.Duration
	}{{0.5, 8 * ms}, {0.9, 12 * ms}, {1, 13 * ms}} {
		if got := d.Quantile(tt.p); (got - tt.want).Abs() > 300*time.Microsecond {
			t.Errorf("p%v is %v, want about %v", tt.p*100, got, tt.want)
		}
	}
	if a, b := d.Quantile(0.9), d.Quantile(0.9); a != b {
		t.Errorf("two answers: %v, %v", a, b)
	}
}

func FuzzParseDelays(f *testing.F) {
	for _, s := range []string{"", "dark=10ms", "apply=exp(1ms,2ms,9ms),dark=uniform(1ms,3ms)",
		"dark=normal(10ms,1ms,8ms,12ms)", "dark=((,),"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := device.ParseDelays(s)
		if err != nil {
			return
		}
		again, err := device.ParseDelays(d.String())
		if err != nil || again != d {
			t.Fatalf("%q reads back as %+v (%v), was %+v", d, again, err, d)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range 10 {
			if x := d.Dark.Draw(r); x < 0 {
				t.Fatalf("%q drew %v", s, x)
			}
		}
	})
}

// TestPresets: every preset reads, names its source, and may be changed stage by stage.
func TestPresets(t *testing.T) {
	for _, p := range device.Presets() {
		d, err := device.ParseDelays(p.Name)
		if err != nil || d.Check() != nil || p.Source == "" || d.String() == "" {
			t.Errorf("%+v: %v, %v", p, d, err)
		}
		if d, err = device.ParseDelays(p.Name + ",lock=3ms"); err != nil ||
			d.Lock != device.Fixed(3*time.Millisecond) {
			t.Errorf("%s with another lock: %v, %v", p.Name, d, err)
		}
	}
	if d, err := device.ParseDelays("mordia"); err != nil || d.Quantile(.9) != 80*time.Microsecond {
		t.Errorf("68.5 + 2.8 + 8.7 µs: %v, %v", d.Quantile(.9), err)
	}
	for _, text := range []string{"mems", "dark=1ms,mordia"} {
		if d, err := device.ParseDelays(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}
