package workload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
)

func TestReadAttributes(t *testing.T) {
	a, err := ReadAttributes(strings.NewReader(
		"# by hand\nid,weight,deadline\r\n7, 2.5 ,1.5\n\n8,,0.0000000004\nmy job,0,"), "f")
	if err != nil {
		t.Fatal(err)
	}
	jobs := []controller.Job{{Name: "coflow-7", Weight: 1}, {Name: "coflow-8", Weight: 1},
		{Name: "my job", Weight: 1, Deadline: 5}, {Name: "coflow-9", Weight: 1}}
	n, err := a.Apply(jobs)
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	for i, want := range []struct {
		weight   float64
		deadline time.Duration
	}{{2.5, 1500 * time.Millisecond}, {1, 1}, {0, 0}, {1, 0}} {
		if jobs[i].Weight != want.weight || jobs[i].Deadline != want.deadline {
			t.Errorf("%s: %v, %v", jobs[i].Name, jobs[i].Weight, jobs[i].Deadline)
		}
	}
	if _, err := a.Apply(jobs[3:]); err == nil ||
		!strings.Contains(err.Error(), "none of its 3 coflows is replayed") {
		t.Errorf("no coflow is named: %v", err)
	}
}

func TestAttributeErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "f:1:1: the file is empty"},
		{"no head", "7,1,1\n", `f:1:1: "7,1,1" is not the head`},
		{"two fields", "id,weight,deadline\n7,1\n", "f:2:1: 2 fields where 3 are due"},
		{"no id", "id,weight,deadline\n,1,1\n", "f:2:1: there is no id"},
		{"twice", "id,weight,deadline\n7,1,1\n7,2,\n", `f:3:1: coflow "7" has a line already, 2`},
		{"weight of a word", "id,weight,deadline\n7,much,1\n", `f:2:3: weight "much" is no number from 0`},
		{"weight below zero", "id,weight,deadline\n7,-1,1\n", `f:2:3: weight "-1"`},
		{"weight without end", "id,weight,deadline\n7,Inf,1\n", `f:2:3: weight "Inf"`},
		{"deadline of zero", "id,weight,deadline\n7,1,0\n", `f:2:5: deadline "0" is no time above zero`},
		{"deadline with a unit", "id,weight,deadline\n7,1,1s\n", `f:2:5: deadline "1s"`},
		{"deadline beyond all runs", "id,weight,deadline\n7,1,99999999999999999999\n", `f:2:5: deadline`},
		{"deadline of an exponent", "id,weight,deadline\n7,1,1e999999999\n", `f:2:5: deadline`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadAttributes(strings.NewReader(tc.text), "f")
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tc.want) || syntax.Hint() == "" {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// FuzzReadAttributes: what is read is within bounds.
func FuzzReadAttributes(f *testing.F) {
	f.Add("id,weight,deadline\n7,2.5,1.5\n8,,\n")
	f.Add("id,weight,deadline\n7,1,.000000001\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ReadAttributes(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for id, v := range a.ByID {
			if id == "" || !(v.Weight >= 0) || v.Deadline < 0 {
				t.Errorf("%q: %q has %+v", text, id, v)
			}
		}
	})
}
