package replay

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"lightloom/lab/console"
	"lightloom/lab/scenario"
)

// TestDeterministic checks that a run on the simulator depends only on its arguments: report.json and
// report.html are the same byte for byte, on one processor and on all.
func TestDeterministic(t *testing.T) {
	files := func(procs int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		dir := t.TempDir()
		opt := Options{Options: scenario.Options{Demo: true, Seed: 3, Speedup: 1, Scale: 1,
			On: scenario.OnFlowsim},
			Console: Console{Output: console.OutputTable, ReportDir: dir, Stdout: io.Discard, Stderr: io.Discard}}
		if err := Replay(context.Background(), opt); err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, name := range []string{"report.json", "report.html"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	one, all := files(1), files(0)
	if !bytes.Equal(one, all) {
		t.Error("two runs with the same arguments differ")
	}
}
