package workload

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// manyJobs is a file of n jobs, each in three lines from the third line on.
func manyJobs(n int) string {
	var b strings.Builder
	b.WriteString("# jobs\njobs:\n")
	for i := range n {
		fmt.Fprintf(&b, "- name: j%d\n  stages: [{name: m, tasks: 2}, {name: r, tasks: 1}]\n", i)
		fmt.Fprintf(&b, "  edges: [{from: m, to: r, bytes: %dMB}]\n", 1+i%7)
	}
	return b.String()
}

// TestReadJobsInPieces: a large file is read in pieces, and means the same as when all of it is parsed at once, which
// an anchor asks for.
func TestReadJobsInPieces(t *testing.T) {
	const n = 2000
	text := strings.Replace(manyJobs(n), "# jobs", "# map -> reduce & more", 1)
	pieces, err := ReadJobs("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := ReadJobs("f", []byte(strings.Replace(text, "tasks: 2", "tasks: &a 2", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if len(pieces) != n || !reflect.DeepEqual(pieces, whole) {
		t.Errorf("%d jobs in pieces, %d at once, or they differ", len(pieces), len(whole))
	}
	if last := pieces[n-1]; last.Line != 3*n || last.Col != 9 {
		t.Errorf("the last job stands at %d:%d, not %d:9", last.Line, last.Col, 3*n)
	}
}

// TestReadJobsInPiecesPlace: what is wrong in a large file has its line there.
func TestReadJobsInPiecesPlace(t *testing.T) {
	text, long := manyJobs(2000), manyJobs(10000)
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown key":    {"- name: j1500\n", "- nane: j1500\n", "f:4503:3: unknown field \"nane\""},
		"key at the end": {"", "policy: joint\n", "f:6003:1: unknown field \"policy\""},
		"no YAML":        {"- name: j1500\n", "- name: \"j1500\n", "f:4503:9: "},
		"anchor": {"# jobs\n", "# map -> reduce & more\nx: &a 1\n",
			"f:2: the file is longer than 1048576 bytes, and a value"},
		"no list": {long, "jobs: [" + strings.Repeat("{name: a}, ", 1e5) + "]",
			"longer than 1048576 bytes, and its jobs do not"},
	} {
		t.Run(name, func(t *testing.T) {
			in := text
			if strings.Contains(c.want, "longer") {
				in = long
			}
			in = strings.Replace(in, c.from, c.to, 1)
			if c.from == "" {
				in = text + c.to
			}
			if _, err := ReadJobs("f", []byte(in)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
		})
	}
	jobs, err := ReadJobs("f", []byte(strings.Replace(text, "tasks: 2}", "tasks: -2}", 1)))
	if err != nil || jobs[0].Problem == nil || !strings.HasPrefix(jobs[0].Problem.Error(), "f:4:29: job \"j0\"") {
		t.Errorf("a job with -2 tasks: %v, %v", err, jobs[0].Problem)
	}
}

// TestProblems: of many problems the first are told, and how many there are beside.
func TestProblems(t *testing.T) {
	all := make([]error, mostProblems+7)
	for i := range all {
		all[i] = fmt.Errorf("job %d", i)
	}
	if got := Problems(all); len(got) != mostProblems+1 || got[mostProblems].Error() != "and 7 further jobs" {
		t.Errorf("%d problems are told, the last: %v", len(got), got[len(got)-1])
	}
	if got := Problems(all[:mostProblems]); len(got) != mostProblems || got[0] != all[0] {
		t.Errorf("%d of %d problems are told", len(got), mostProblems)
	}
}
