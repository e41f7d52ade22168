package workload_test

import (
	"errors"
	"fmt"
	"strings"

	"lightloom/controller/workload"
)

// A trace of six racks, folded onto a fabric of four racks with two hosts each, and divided by ten.
func Example() {
	const file = "6 2\n1 0 2 0 4 1 3:24.0\n2 30 1 1 2 2:1.0 3:1.0\n"
	trace, err := workload.ReadTrace(strings.NewReader(file), "two.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs, fold, err := trace.Jobs(workload.FoldOptions{Racks: 4, HostsPerRack: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.ReplaceAll(fold.String(), "; ", "\n"))
	jobs, err = workload.Scale(jobs, workload.ScaleOptions{Scale: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range jobs[0].Edges[0].Flows {
		fmt.Printf("%s: host %d to host %d, %d bytes\n", jobs[0].Name, f.Src, f.Dst, f.Bytes)
	}
	// Output:
	// two.txt: 2 coflows, 4 flows, 26 MB
	// its 6 racks are folded onto 4 (rack modulo 4)
	// on one host: 0 flows, 0 MB, as in the trace, and 0 flows, 0 MB, by the folding
	// coflow-1: host 0 to host 6, 1200000 bytes
	// coflow-1: host 1 to host 6, 1200000 bytes
}

// Errors of a trace name the place and the remedy.
func ExampleSyntaxError() {
	_, err := workload.ReadTrace(strings.NewReader("4 1\n7 0 1 4 1 3:4\n"), "wrong.txt")
	fmt.Println(err)
	var wrong *workload.SyntaxError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Hint())
	}
	// Output:
	// read trace: wrong.txt:2:7: the rack of mapper 1 of 1: 4 is not within 0 to 3
	// write a rack from 0 to 3, or raise the number of racks in line 1
}
