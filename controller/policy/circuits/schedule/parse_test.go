package schedule

import (
	"strings"
	"testing"
)

const sample = "# two days\nports 4\nnight 10ms\nday 90ms 0>1 1>0 2>3 3>2\nnight 5ms\nday 40ms 0>2\nnight 1ms\n"

func TestParse(t *testing.T) {
	s, err := Parse(strings.NewReader(sample), "f")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), "ports 4\nday 101ms 0>1 1>0 2>3 3>2\nday 45ms 0>2\n"; got != want {
		t.Errorf("reads as\n%swant\n%s", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, err string }{
		{"empty", "", "f:1:1: there is no schedule here: begin with ports N"},
		{"no day", "ports 4\nnight 1s\n", "f:3:1: there is no day"},
		{"no ports", "day 1s 0>1\n", `f:1:1: "day" comes before the number of ports`},
		{"ports twice", "ports 4\nports 4\n", "f:2:1: the number of ports is 4 already"},
		{"no number", "ports four\n", `f:1:7: "four" is no number of ports: take 2 to 16384`},
		{"no unit", "ports 4\nday 10 0>1\n", `f:2:5: "10" is no length`},
		{"below zero", "ports 4\nnight -1s\n", `f:2:7: "-1s" is no length`},
		{"too long", "ports 4\nnight 1000h\n", `f:2:7: "1000h" is no length`},
		{"no length", "ports 4\nday\n", "f:2:1: day has no length"},
		{"input twice", "ports 4\nday 1s 0>1 0>2\n", "f:2:12: 0>2 lights input 0 twice"},
		{"output twice", "ports 4\nday 1s 0>1  2>1\n", "f:2:13: 2>1 lights output 1 twice: input 0"},
		{"to itself", "ports 4\nday 1s 3>3\n", "f:2:8: 3>3 leads a rack to itself"},
		{"outside", "ports 4\nday 1s 0>4\n", "f:2:8: 0>4: ports are 0 to 3"},
		{"no circuit", "ports 4\nday 1s 0-1\n", `f:2:8: "0-1" is no circuit: write input>output`},
		{"lit at night", "ports 4\nnight 1s 0>1\n", `f:2:10: "0>1": no circuit is lit at night`},
		{"two nights", "ports 4\nnight 1s\nnight 1s\n", "f:3:1: a night follows a night"},
		{"unknown", "ports 4\n\tnoon 1s\n", `f:2:2: "noon" is neither night nor day`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Parse(strings.NewReader(tc.text), "f"); err == nil ||
				!strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("error %v, want %s…", err, tc.err)
			}
		})
	}
}

// FuzzParse: what is read is a schedule without a port twice, and its text reads as itself.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("ports 2\nday 1ns\n")
	f.Add("ports 3\r\nday 1h 2>0 0>2 # x\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		if err := s.Check(New(len(s.Slots[0].Out)), 0); err != nil && len(s.Slots[0].Out) < 100 {
			t.Errorf("%q: %v", text, err)
		}
		again, err := Parse(strings.NewReader(s.String()), "f")
		if s.Long() > MaxTime || s.Slots[0].Long > MaxTime {
			return // a night and a day together can exceed what one line allows
		}
		if err != nil || again.String() != s.String() {
			t.Errorf("%q reads as %q, and that as %v, %v", text, s, again, err)
		}
	})
}
