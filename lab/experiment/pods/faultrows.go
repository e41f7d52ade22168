package pods

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lightloom/lab/experiment"
)

// mostSpares is up to how many spare cubes are compared.
const mostSpares = 8

// swapSeconds is how long a swap may take: the longest that a pod of ours is allowed.
const swapSeconds = 5

// faultFile finds the trace of faults: the folder of traces has it as the only JSON file below faults, or it is that
// file itself.
func faultFile(data string) (string, error) {
	const how = "name one with --data FILE, or a folder that has it as faults/NAME.json with --data FOLDER"
	if data == "" {
		return "", errors.New("find faults: no trace is named: " + how)
	}
	if info, err := os.Stat(data); err != nil {
		return "", fmt.Errorf("find faults: %w: %s", err, how)
	} else if !info.IsDir() {
		return data, nil
	}
	found, err := filepath.Glob(filepath.Join(data, "faults", "*.json"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("find faults: %d files faults/*.json in %s: %s: %w", len(found), data, how, fs.ErrNotExist)
	}
	return found[0], nil
}

func runFaults(_ context.Context, b *experiment.Bench) (*experiment.Result, error) {
	name, err := faultFile(b.Data)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	defer f.Close()
	trace, err := ReadFaults(filepath.Base(name), f)
	if err != nil {
		return nil, err
	}
	out := b.Result(
		"server i of 400 stands in cube ⌊64·i/400⌋; a cube is away while any of its servers has an open fault",
		"64 nodes are lost for each cube that is away and that no spare stands for, whatever runs there; spares do not fail",
		"available: all 64 cubes are there",
		"electrical: any cube reaches any other; fixed torus: a spare cannot stand where another cube does; re-wired: "+
			"circuits lead to the spare instead",
		"nothing is drawn: all seeds are the same run",
	)
	out.At("trace", filepath.Base(name), "").Row("length", "days", 0, []float64{trace.To - trace.From})
	out.At("trace", filepath.Base(name), "").Row("events", "", 0, []float64{float64(len(trace.Changes))})
	for _, cabling := range []Cabling{Electrical, FixedTorus, Rewired} {
		for spares := range mostSpares + 1 {
			l := trace.Lost(cabling, spares)
			h := out.At("faults", fmt.Sprintf("%s, %d spare", cabling, spares), "")
			h.Row("available", "%", 0, []float64{100 * l.Available})
			h.Row("node-hours lost", "h", 0, []float64{l.NodeHours})
			h.Row("outside of the largest slice", "nodes", 0, []float64{l.Outside})
			if cabling == Rewired {
				h.Row("swaps", "", 0, []float64{float64(l.Swaps)})
				h.Row("node-hours of swaps of 5 s", "h", 0, []float64{float64(l.Swaps) * 64 * swapSeconds / 3600})
			}
		}
	}
	return out, nil
}
