package workload

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/pathmap"
)

const good = "4 2\n7 0 2 0 1 1 3:4.0\n8 1500 1 2 2 0:3 2:1.0\n"

func TestReadTrace(t *testing.T) {
	want := &Trace{Name: "t.txt", Racks: 4, Coflows: []TraceCoflow{
		{ID: 7, Arrival: 0, Mappers: []int32{0, 1}, Reducers: []Reducer{{3, 4 * Megabyte}}, Line: 2},
		{ID: 8, Arrival: 1500 * time.Millisecond, Mappers: []int32{2},
			Reducers: []Reducer{{0, 3 * Megabyte}, {2, Megabyte}},
			Line:     3},
	}}
	for name, text := range map[string]string{
		"as published":          good,
		"no final newline":      strings.TrimSuffix(good, "\n"),
		"carriage returns":      strings.ReplaceAll(good, "\n", "\r\n"),
		"tabs and runs":         strings.ReplaceAll(good, " ", " \t "),
		"empty lines at end":    good + "\n \n",
		"blanks at end of line": strings.ReplaceAll(good, "\n", " \n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadTrace(iotest.OneByteReader(strings.NewReader(text)), "t.txt")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			// 2 mappers → 1 reducer and 1 → 2; 4 + 3 + 1 MB.
			if sum := got.Totals(); sum != (Totals{Coflows: 2, Flows: 4, Bytes: 8 * Megabyte}) {
				t.Errorf("totals %+v", sum)
			}
		})
	}
}

func TestReadTraceErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, at, problem, mend string }{
		{"nothing", "", "1:1", "empty", "<racks> <coflows>"},
		{"header not a number", "x 2\n", "1:1", `"x" is not a whole number`, "150 526"},
		{"header too short", "4\n", "1:2", "ends before the number of coflows", "150 526"},
		{"header too long", "4 2 9\n", "1:5", `"9" stands after the header`, "counts"},
		{"no racks", "0 2\n", "1:1", "not within 1 to", "150 526"},
		{"endless racks", "99999999999999999999 2\n", "1:1", "not within", "150 526"},
		{"fewer coflows", "4 3\n" + good[4:], "4:1", "ends after 2 of 3 coflows", "`4 2`"},
		{"more coflows", "4 1\n" + good[4:], "3:1", "the header says 1 coflows", "`4 N`"},
		{"wrong field", "4 1\n7 soon 1 0 1 3:4\n", "2:3", `arrival in milliseconds: "soon"`, "arrival_ms"},
		{"signed", "4 1\n+7 0 1 0 1 3:4\n", "2:1", `"+7" is not a whole number`, "id"},
		{"negative arrival", "4 1\n7 -1 1 0 1 3:4\n", "2:3", "-1 is not within 0", "arrival_ms"},
		{"id twice", "4 2\n7 0 1 0 1 3:4\n7 1 1 0 1 3:4\n", "3:1", "id 7 was used in line 2", "of its own"},
		{"impossible rack", "4 1\n7 0 1 4 1 3:4\n", "2:7", "mapper 1 of 1: 4 is not within 0 to 3",
			"rack from 0 to 3"},
		{"impossible reducer", "4 1\n7 0 1 0 1 9:4\n", "2:11", "reducer 1 of 1: rack: 9 is not within",
			"rack from 0 to 3"},
		{"negative size", "4 1\n7 0 1 0 1 3:-4\n", "2:13", "megabytes: -4 is not within 0",
			"megabytes from zero"},
		{"size of two points", "4 1\n7 0 1 0 1 3:1.5.2\n", "2:13", `"1.5.2" is no decimal number`, "48.0, 0.5"},
		{"negative broken size", "4 1\n7 0 1 0 1 3:-0.5\n", "2:13", "-0.5 is not within 0", "48.0, 0.5"},
		{"not a number size", "4 1\n7 0 1 0 1 3:NaN\n", "2:13", `"NaN" is no decimal number`, "48.0, 0.5"},
		{"no end of size", "4 1\n7 0 1 0 1 3:Infinity\n", "2:13", `"Infinity" is no decimal number`, "48.0, 0.5"},
		{"size of a computer", "4 1\n7 0 1 0 1 3:0x1p3\n", "2:13", `"0x1p3" is no decimal number`, "48.0, 0.5"},
		{"size of too many digits", "4 1\n7 0 1 0 1 3:1e999\n", "2:13", "1e999 is not within 0", "48.0, 0.5"},
		{"no size", "4 1\n7 0 1 0 1 3\n", "2:11", `"3" has no colon`, "140:48.0"},
		{"empty size", "4 1\n7 0 1 0 1 3:\n", "2:13", `"" is no decimal number`, "48.0, 0.5"},
		{"truncated in mappers", "4 1\n7 0 3 0 1", "2:10", "ends before the rack of mapper 3 of 3",
			"rack from 0"},
		{"truncated in reducers", "4 1\n7 0 1 0 2 3:4", "2:14", "ends before reducer 2 of 2", "rack:MB"},
		{"rest of line", "4 1\n7 0 1 0 1 3:4 2:4\n", "2:15", `"2:4" stands after`, "counts"},
		{"no mappers", "4 1\n7 0 0 1 3:4\n", "2:5", "number of mappers: 0 is not within", "a line is"},
		{"too many flows", "4 1\n7 0 2 0 1 1000000 3:4\n", "2:11", "too many flows", "keep a coflow"},
		{"too many megabytes", "4 1\n7 0 1 0 2 3:1000000000 2:1000000000\n", "2:1",
			"holds 2000000000 MB", "keep a coflow"},
		{"empty line", "4 2\n7 0 1 0 1 3:4\n\n8 0 1 0 1 3:4\n", "3:1", "the line is empty", "empty lines"},
		{"long line", "4 1\n" + strings.Repeat("9", MaxLine+2), "2:1", "too long", "keep lines"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadTrace(strings.NewReader(tc.text), "t.txt")
			var se *SyntaxError
			if !errors.As(err, &se) {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if at := fmt.Sprintf("%d:%d", se.Line, se.Col); at != tc.at {
				t.Errorf("at %s, want %s: %v", at, tc.at, err)
			}
			if !strings.Contains(err.Error(), tc.problem) ||
				!strings.HasPrefix(err.Error(), "read trace: t.txt:"+tc.at+": ") {
				t.Errorf("error %q does not say %q at %s", err, tc.problem, tc.at)
			}
			if !strings.Contains(se.Hint(), tc.mend) {
				t.Errorf("hint %q does not say %q", se.Hint(), tc.mend)
			}
		})
	}
}

func TestReadTraceKeepsReadError(t *testing.T) {
	_, err := ReadTrace(io.MultiReader(strings.NewReader("4 1\n7 "),
		iotest.ErrReader(io.ErrClosedPipe)), "t.txt")
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

// TestSizes reads megabytes as coflowsim does, and splits them over three mappers.
func TestSizes(t *testing.T) {
	for size, want := range map[string][3]pathmap.Bytes{
		"2": {666_667, 666_667, 666_666}, "2.0": {666_667, 666_667, 666_666}, "3": {1e6, 1e6,
			1e6}, "4": {2e6, 1e6, 1e6},
		"1.5": {5e5, 5e5, 5e5}, ".5": {166_667, 166_667, 166_666}, "6.": {2e6, 2e6, 2e6}, "3e0": {1e6, 1e6, 1e6},
		"1.2E+1": {4e6, 4e6, 4e6}, "3e-6": {1, 1, 1}, "1e-9": {1, 0, 0}, "0": {}, "0.0": {}, "0e5": {},
		"0.30000000000000004": {1e5, 1e5, 1e5},
	} {
		got, err := ReadTrace(strings.NewReader("4 1\n7 0 3 0 1 2 1 3:"+size+"\r\n\r\n"), "t")
		if err != nil {
			t.Errorf("%s: %v", size, err)
			continue
		}
		for i := range want {
			if b := got.Coflows[0].Reducers[0].From(i, 3); b != want[i] {
				t.Errorf("%s: mapper %d sends %d, want %d", size, i, b, want[i])
			}
		}
	}
}

// TestEmptyCoflows: coflows that send nothing are left out, and the trace says how many.
func TestEmptyCoflows(t *testing.T) {
	got, err := ReadTrace(strings.NewReader("\uFEFF4 4\n1 0 1 0 0\n2 0 2 0 1 2 3:0 2:0.0\n3 5 2 0 1 2 3:0 2:2\n4 9 "+
		"1 0 1 1:1e-6\n"), "t")
	if err != nil {
		t.Fatal(err)
	}
	jobs, fold, err := got.Jobs(FoldOptions{Racks: 4, HostsPerRack: 1})
	if err != nil || len(jobs) != 2 || jobs[0].Name != "coflow-3" ||
		len(jobs[0].Edges[0].Flows) != 2 || fold.Empty != 2 ||
		!strings.Contains(fold.String(), "2 coflows that send nothing are left out") {
		t.Errorf("%+v, %+v, %v", jobs, fold, err)
	}
	if n := got.AsCoflowsim(); n != 3 || got.Coflows[1].Bytes() != 4*Megabyte {
		t.Errorf("as coflowsim %d change: %+v", n, got.Coflows)
	}
	none := &Trace{Racks: 4, Coflows: got.Coflows[:1]}
	if _, _, err := none.Jobs(FoldOptions{Racks: 4, HostsPerRack: 1}); err == nil {
		t.Error("a trace without bytes is taken")
	}
}

func TestReducerFrom(t *testing.T) {
	for _, unit := range []pathmap.Bytes{Megabyte, 1} {
		for of := pathmap.Bytes(1); of < 40; of++ {
			for n := 1; pathmap.Bytes(n) <= of; n++ {
				sum, least, most := pathmap.Bytes(0), of*unit, pathmap.Bytes(0)
				for i := range n {
					v := Reducer{Bytes: of * unit}.From(i, n)
					sum, least, most = sum+v, min(least, v), max(most, v)
				}
				if sum != of*unit || least < unit || most-least > unit || least%unit != 0 {
					t.Fatalf("%d × %d bytes over %d: sum %d, from %d to %d", of, unit, n, sum, least, most)
				}
			}
		}
	}
}

// write is the format's inverse, for the fuzz target.
func write(t *Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d\n", t.Racks, len(t.Coflows))
	for _, c := range t.Coflows {
		fmt.Fprintf(&b, "%d %d %d", c.ID, c.Arrival.Milliseconds(), len(c.Mappers))
		for _, m := range c.Mappers {
			fmt.Fprintf(&b, " %d", m)
		}
		fmt.Fprintf(&b, " %d", len(c.Reducers))
		for _, r := range c.Reducers {
			fmt.Fprintf(&b, " %d:%d.%06d", r.Rack, r.Bytes/Megabyte, r.Bytes%Megabyte)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func FuzzReadTrace(f *testing.F) {
	f.Add(good)
	f.Add("4 1\n7 0 1 0 1 3:-4\n")
	f.Add("1 1\n0 0 1 0 1 0:1")
	f.Add("4 1\n\n\n")
	f.Add("4 1\n7 0 2 0 1 1 3:0.000003\n")
	f.Add("4 2\n7 0 3 0 1 2 1 3:2e0\n8 0 1 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ReadTrace(strings.NewReader(text), "f")
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) || se.Line < 1 || se.Col < 1 || se.Mend == "" {
				t.Fatalf("error without place or mend: %v", err)
			}
			return
		}
		again, err := ReadTrace(strings.NewReader(write(got)), "f")
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Fatalf("(-first +again):\n%s", d)
		}
		jobs, _, err := got.Jobs(FoldOptions{Racks: 3, HostsPerRack: 2})
		if err != nil {
			if got.Totals().Bytes == 0 {
				return // nothing is left of it
			}
			t.Fatal(err)
		}
		if have, want := Sum(jobs), got.Totals(); have != want {
			t.Fatalf("jobs hold %+v, the trace %+v", have, want)
		}
	})
}
