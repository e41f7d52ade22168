package circuits

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scenarios")

// order is how scenarios list the parts.
var order = []string{"sunflow", "sunflow-turning", "bvn", "solstice", "eclipse", "edmonds",
	"edmonds-backlog", "rotor",
	"rotor-vlb", "static", "schedule"}

// TestScenarioFiles plays testdata/*.txt, each a demand on a dark crossbar of four ports of 1 Gb/s at δ
// 10 ms, and what every part makes of it: circuits by beginning, from now on in ms, their
// reconfiguration delay included. Where a part knows coflows and not their sum alone, the coflow
// follows. Lines:
//
//	coflow IN>OUT:MS…  one that has started, with what each pair has to send
//	lit IN>OUT…        circuits that are in service
func TestScenarioFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			head, want, _ := strings.Cut(string(b), "----\n")
			got := played(t, head)
			if *update {
				if err := os.WriteFile(name, []byte(head+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("%s (run with -update and read the difference):\n%s", name, got)
			}
		})
	}
}

func played(t *testing.T, text string) string {
	v := crossbar(t, [4][4]int{})
	v.Coflows = nil
	v.Circuits = slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, 4)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		for k, w := range words[1:] {
			var in, out, ms int
			if words[0] == "lit" {
				if _, err := fmt.Sscanf(w, "%d>%d", &in, &out); err != nil {
					t.Fatalf("%q: %v", w, err)
				}
				v.Circuits[in] = controller.CircuitView{Out: southbound.Port(out), Phase: controller.InService}
				continue
			}
			if _, err := fmt.Sscanf(w, "%d>%d:%d", &in, &out, &ms); err != nil || words[0] != "coflow" {
				t.Fatalf("%q: %v", line, err)
			}
			if k == 0 {
				v.Coflows = append(v.Coflows, controller.CoflowView{ID: southbound.CoflowID(len(v.Coflows)),
					Generation: 1,
					Started:    true, Routed: true, Remaining: southbound.Remaining{F: 1}})
			}
			c := &v.Coflows[len(v.Coflows)-1]
			size := pathmap.Gbps.In(time.Duration(ms) * time.Millisecond)
			c.Src, c.Dst, c.Size = append(c.Src, southbound.HostID(in)), append(c.Dst, southbound.HostID(out)),
				append(c.Size, size)
			c.Remaining.Base, c.Ended, c.Tag = append(c.Remaining.Base, float64(size)), append(c.Ended,
				false), append(c.Tag, 0)
		}
	}
	all := parts(t)
	all["sunflow"], all["sunflow-turning"] = Sunflow{}, Sunflow{Order: Turning}
	var out strings.Builder
	for _, name := range order {
		p := ask(all[name], v)
		fmt.Fprintf(&out, "%s:\n", name)
		slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int {
			if a.NotBefore != b.NotBefore {
				return int(a.NotBefore - b.NotBefore)
			}
			return int(a.In - b.In)
		})
		for _, r := range p.Reserve {
			fmt.Fprintf(&out, "  %d>%d %4d to %d", r.In, r.Out, r.NotBefore.Milliseconds(),
				r.NotAfter.Milliseconds())
			if r.Coflow != controller.AnyCoflow {
				fmt.Fprintf(&out, " for coflow %d", r.Coflow)
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}
