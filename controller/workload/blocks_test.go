package workload

import (
	"slices"
	"strings"
	"testing"

	"lightloom/southbound"
)

// TestBlocksOfJobFiles: a stage's input and replicas are those of its tasks, lists of racks in turn.
func TestBlocksOfJobFiles(t *testing.T) {
	jobs, err := ReadJobs("x.yaml", []byte("jobs:\n  - name: a\n    stages:\n      - {name: map, tasks: 3, input: 256MB, "+
		"replicas: [[0, 1], [2]]}\n      - {name: drawn, input: 1MB}\n"))
	if err != nil || jobs[0].Problem != nil {
		t.Fatal(err, jobs[0].Problem)
	}
	s := jobs[0].Stages
	for i, want := range [][]southbound.RackID{{0, 1}, {2}, {0, 1}} {
		if x := s[0].Tasks[i]; x.Input != 256e6 || !slices.Equal(x.Replicas, want) {
			t.Errorf("task %d: %+v, want racks %v", i, x, want)
		}
	}
	if x := s[1].Tasks[0]; x.Input != 1e6 || x.Replicas != nil {
		t.Errorf("%+v", x)
	}
}

// TestBadBlocksOfJobFiles: what is wrong with blocks is said with its place.
func TestBadBlocksOfJobFiles(t *testing.T) {
	for stage, want := range map[string]string{
		"{name: map, input: lots}":                       `x.yaml:3:33: job "a": input "lots" of stage "map" is no size`,
		"{name: map, input: 0B}":                         `input "0B" of stage "map" is no size of a block, such as 256MB`,
		"{name: map, replicas: [[1]]}":                   `stage "map" has replicas of blocks, and reads none: write input:`,
		"{name: map, input: 1MB, replicas: [[]]}":        "has a block that has no replica: name 1 to 3 racks",
		"{name: map, input: 1MB, replicas: [[0], [-1]]}": `x.yaml:3:55: job "a": rack "-1" is no whole number from 0`,
	} {
		jobs, err := ReadJobs("x.yaml", []byte("jobs:\n  - name: a\n    stages: ["+stage+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := jobs[0].Problem; got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v, want %q", stage, got, want)
		}
	}
}
