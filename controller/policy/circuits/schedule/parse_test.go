package schedule

import (
	"strings"
	"testing"

	"lightloom/southbound"
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

// TestParseSwitches: circuits of parallel switches have ports that follow each other, in all days.
func TestParseSwitches(t *testing.T) {
	text := "ports 4\nday 90ms 0>1 ocs1:0>2 ocs0:2>3\nday 40ms\nday 10ms ocs2:3>1\n"
	s, err := Parse(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if want := "ports 4\nday 90ms 0>1 2>3 ocs1:0>2\nday 40ms\nday 10ms ocs2:3>1\n"; s.String() != want {
		t.Errorf("reads as\n%swant\n%s", s, want)
	}
	for k := range s.Slots {
		if len(s.Slots[k].Out) != 12 {
			t.Errorf("day %d has %d ports, want 12", k, len(s.Slots[k].Out))
		}
	}
	if s.Slots[0].Out[4] != 6 || s.Slots[2].Out[11] != 9 || s.PortOf(2, 3) != 11 || s.PortOf(1, 4) != southbound.NoPort {
		t.Errorf("%+v", s)
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
		{"no such switch", "ports 4\nday 1s ocs16:0>1\n", `f:2:8: "ocs16" is no switch: write ocs0 to ocs15`},
		{"a switch by another name", "ports 4\nday 1s ocs01:0>1\n", `f:2:8: "ocs01" is no switch`},
		{"ports of two switches", "ports 4\nday 1s ocs1:0>ocs2:3\n",
			"f:2:8: ocs1:0>ocs2:3 names the port of a switch at the end: a circuit joins two ports of one switch: write " +
				"ocs1:0>3"},
		{"two of a switch", "ports 4\nday 1s ocs1:0>1 ocs1:2>1\n", "f:2:17: ocs1:2>1 lights output 1 twice: input 0"},
		{"two switches join a pair", "ports 4\nday 1s 0>1\nday 1s ocs1:0>1\n", "f:3:8: ocs1:0>1: ocs0 joins 0 and 1"},
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
	f.Add("ports 4\nday 1s 0>1 ocs1:0>2\nnight 1ms\nday 1ms ocs3:2>1\n")
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
