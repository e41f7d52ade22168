package agreement

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"lightloom/lab/experiment"
	"lightloom/lab/report"
)

// measured is where the runs are kept that stated errors are judged by. Their constants were fitted on
// others.
const measured = "../../../docs/bench/packets/raw-stated.csv"

// TestStatedErrors judges the error that a run states, by today's formula, on the runs that were
// measured: it covers the true one in nine of ten, and its median is at most twice the true one's.
func TestStatedErrors(t *testing.T) {
	text, err := os.ReadFile(measured)
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comment = '#'
	lines, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var runs []*pair
	beside := 0
	for _, l := range lines {
		if !strings.HasPrefix(l[0], "packets") {
			continue
		}
		p := &pair{}
		if p.Mean, err = strconv.ParseFloat(l[5], 64); err != nil {
			t.Fatal(err)
		}
		p.Mean /= 100
		if err := json.Unmarshal([]byte(l[len(l)-1]), &struct {
			Seed *uint64 `json:"seed"`
			*report.Health
		}{&p.Seed, &p.Health}); err != nil {
			t.Fatal(err)
		}
		p.Health.Expect()
		if strings.Contains(l[1], "busy core") {
			beside++
		}
		runs = append(runs, p)
	}
	if len(runs) < 60 || beside < 20 {
		t.Errorf("%d runs, %d of them beside a busy core", len(runs), beside)
	}
	out := new(experiment.Bench).Result()
	stated(runs, out)
	rows := out.Rows
	covered, median, marks := *rows[0].Measured, *rows[1].Measured, rows[2].Note
	t.Logf("%d runs, %d beside a busy core: covers %.1f %%, median %.2f times the true one; %s",
		len(runs), beside,
		covered, median, marks)
	if covered < 90 || median > 2 {
		t.Errorf("covers %.1f %%, want 90; median %.2f times the true one, want at most 2", covered, median)
	}
	if want := "above 10 %: 7 of 66 marked, 2 off, 2 both; above 25 %: 2 marked, 0 off, 0 both"; marks != want {
		t.Errorf("marks: %s; the page says %s", marks, want)
	}
}
