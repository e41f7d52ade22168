package api

import (
	"fmt"
	"testing"
	"time"
)

func TestCheckAge(t *testing.T) {
	at := func(age time.Duration) string {
		ms := time.Now().Add(-age).UnixMilli()
		return fmt.Sprintf("%08x-%04x-7cc3-98c4-dc0c0c07398f", ms>>16, ms&0xffff)
	}
	for _, tc := range []struct {
		name, id  string
		retention time.Duration
		refused   bool
	}{
		{"new", at(0), time.Hour, false},
		{"young enough", at(59 * time.Minute), time.Hour, false},
		{"too old", at(61 * time.Minute), time.Hour, true},
		{"known for good", at(1000 * time.Hour), 0, false},
		{"a clock somewhat ahead", at(-30 * time.Second), time.Hour, false},
		{"a clock far ahead", at(-2 * time.Minute), time.Hour, true},
		{"version 4", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f", time.Hour, false},
		{"no hexadecimal", "017f22e2-79b0-7cc3-98c4-dc0c0c0739zz", time.Hour, false},
		{"dashes elsewhere", "017f22e279b0-7-cc3-98c4-dc0c0c07398f", time.Hour, false},
		{"a name", "job-1", time.Hour, false},
	} {
		s := &Server{cfg: Config{Retention: func() time.Duration { return tc.retention }}}
		if err := s.checkAge(tc.id); (err != nil) != tc.refused {
			t.Errorf("%s: %v, want refused: %v", tc.name, err, tc.refused)
		}
	}
	// the example of RFC 9562
	if got, ok := timeOf("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"); !ok || got.UnixMilli() != 1645557742000 {
		t.Errorf("the RFC's example is of %v, %v", got.UnixMilli(), ok)
	}
}

func FuzzTimeOf(f *testing.F) {
	f.Add("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	f.Add("--------7---------------------------")
	f.Fuzz(func(t *testing.T, id string) {
		if at, ok := timeOf(id); ok && (at.UnixMilli() < 0 || at.UnixMilli() >= 1<<48) {
			t.Errorf("%q is of %v", id, at)
		}
	})
}
