package slurmjobs

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lightloom/southbound"
)

//go:embed nodes.csv
var recorded []byte

// Recorded returns the nodes that Slurm chose.
func Recorded() (Choices, error) { return ReadChoices("nodes.csv", bytes.NewReader(recorded)) }

// Choice names a job of a run.
type Choice struct {
	Scale int
	Seed  uint64
	Job   string
}

// Choices are the nodes of jobs, as hosts of the fabric.
type Choices map[Choice][]southbound.HostID

// Host returns the host of a node, which is named for its rack and place, and whether there is one.
func Host(node string) (southbound.HostID, bool) {
	r, i, ok := strings.Cut(strings.TrimPrefix(node, "h"), "-")
	rack, err1 := strconv.Atoi(r)
	at, err2 := strconv.Atoi(i)
	if !ok || err1 != nil || err2 != nil || rack < 0 || rack >= racks || at < 0 || at >= perRack {
		return 0, false
	}
	return southbound.HostID(rack*perRack + at), true
}

// ReadChoices reads a table of scale, seed, job and nodes, which are separated by spaces. Errors name file and line.
func ReadChoices(name string, r io.Reader) (Choices, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = 4
	all, lines := Choices{}, 0
	for {
		f, err := in.Read()
		if err == io.EOF {
			return all, nil
		}
		if lines++; err != nil {
			return nil, fmt.Errorf("read nodes: %s: %w", name, err)
		}
		if lines == 1 && f[0] == "scale" {
			continue
		}
		c, hosts, err := choice(f)
		if err != nil {
			return nil, fmt.Errorf("read nodes: %s:%d: %w", name, lines, err)
		}
		if all[c] != nil {
			return nil, fmt.Errorf("read nodes: %s:%d: job %q stands there twice: leave one out", name, lines, c.Job)
		}
		all[c] = hosts
	}
}

func choice(f []string) (c Choice, hosts []southbound.HostID, err error) {
	if c.Scale, err = strconv.Atoi(f[0]); err != nil {
		return c, nil, fmt.Errorf("scale %.20q is no number", f[0])
	}
	if c.Seed, err = strconv.ParseUint(f[1], 10, 64); err != nil {
		return c, nil, fmt.Errorf("seed %.20q is no number", f[1])
	}
	c.Job = f[2]
	seen := map[southbound.HostID]bool{}
	for node := range strings.FieldsSeq(f[3]) {
		h, ok := Host(node)
		if !ok || seen[h] {
			return c, nil, fmt.Errorf("node %.20q: write each once, from h0-0 to h%d-%d", node, racks-1, perRack-1)
		}
		seen[h] = true
		hosts = append(hosts, h)
	}
	if hosts == nil {
		return c, nil, fmt.Errorf("job %.20q has no nodes", c.Job)
	}
	return c, hosts, nil
}

// Line is a table's line.
func (c Choice) Line(nodes []string) string {
	return fmt.Sprintf("%d,%d,%s,%s\n", c.Scale, c.Seed, c.Job, strings.Join(nodes, " "))
}
