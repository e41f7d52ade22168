package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAsCoflowsim(t *testing.T) {
	tr, err := ReadTrace(strings.NewReader("5 3\n1 0 3 4 1 4 3 2:7 0:6 2:3\n2 0 2 1 0 1 3:4\n3 0 1 1 1 2:3\n"), "t")
	if err != nil {
		t.Fatal(err)
	}
	// The mappers of coflow 1 are racks 1 and 4; rack 2 receives 7+3, which two divide, rack 0 6. Coflow 2
	// is as it was.
	if n := tr.AsCoflowsim(); n != 1 {
		t.Errorf("%d coflows have changed", n)
	}
	if d := cmp.Diff([]Reducer{{0, 6 * Megabyte}, {2, 10 * Megabyte}}, tr.Coflows[0].Reducers); d != "" ||
		!cmp.Equal(tr.Coflows[0].Mappers, []int32{1, 4}) {
		t.Errorf("%s, %v", d, tr.Coflows[0].Mappers)
	}
	if n := tr.AsCoflowsim(); n != 0 {
		t.Errorf("a second time %d change", n)
	}
}
