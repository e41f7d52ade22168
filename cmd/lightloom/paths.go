package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// pathFlags are the flags of paths.
type pathFlags struct {
	topology, pairs, output string
	k                       int
	seed                    uint64
}

func newPaths() *cobra.Command {
	var f pathFlags
	c := &cobra.Command{
		Use:   "paths --topology TOPOLOGY",
		Short: "List the k shortest loopless paths between nodes",
		Long: "Lists the k shortest loopless paths between nodes, shortest first; ties in an order drawn by --seed. " +
			"Without --pairs\n" +
			"it lists every two ToRs, once; where there is none, every two hosts; where there is none, every two switches. " +
			"Hosts\n" +
			"forward nothing, and no path enters an optical switch. Where no path joins a pair, its list is empty.\n\n" +
			topologyHelp(),
		Example: "  lightloom paths --topology fattree:k=4 --k 4\n  lightloom paths --topology lab.json --k 10 --pairs " +
			"pairs.txt -o json",
		Args: noArgs,
	}
	c.Flags().StringVar(&f.topology, "topology", "", "file or description: see above")
	c.Flags().IntVarP(&f.k, "k", "k", 10, fmt.Sprintf("paths for each pair, 1 to %d", pathmap.MaxK))
	c.Flags().StringVar(&f.pairs, "pairs", "",
		"file with two node names per line, names with blanks in quotes; "+
			"default: see above")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the order of paths of equal length")
	outputFlag(c, &f.output, pathList{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case f.topology == "":
			return usage("add --topology lab.yaml, or --topology fattree:k=4",
				"paths: there is no topology to look for paths in")
		case f.k < 1 || f.k > pathmap.MaxK:
			return usage("write --k 10", "paths: --k %d is not within 1 to %d", f.k, pathmap.MaxK)
		}
		if err := f.run(c); err != nil {
			return fmt.Errorf("paths: %w", err)
		}
		return nil
	}
	return c
}

func (f *pathFlags) run(c *cobra.Command) error {
	w := c.OutOrStdout()
	t, err := load(c, f.topology)
	if err != nil {
		return hint.Wrong(err)
	}
	pairs, err := f.pairsOf(t)
	if err != nil {
		return err
	}
	ends, place := endsOf(pairs)
	m, err := pathmap.Build(t, ends, pathmap.Options{K: f.k, Seed: f.seed,
		Avoid:  func(n pathmap.NodeID) bool { return t.Node(n).Role == pathmap.OCS },
		Packed: len(pairs) > len(ends)*len(ends)/8}) // else most of the stored paths are never read
	if err != nil {
		return err
	}
	l := lister{t: t, m: m, place: place}
	if f.output == console.OutputJSON {
		return l.json(w, f, pairs)
	}
	return l.table(w, pairs)
}

// pairsOf returns the pairs to list.
func (f *pathFlags) pairsOf(t *pathmap.Topology) ([]topo.Pair, error) {
	if f.pairs == "" {
		return everyTwo(t)
	}
	file, err := os.Open(f.pairs)
	if err != nil {
		return nil, fmt.Errorf("read pairs: %w", err)
	}
	defer file.Close()
	return topo.ReadPairs(f.pairs, file, t)
}

// mostPairs bounds the pairs that are listed without a request for them.
const mostPairs = 1 << 22

// everyTwo returns every two ToRs, or hosts, or switches.
func everyTwo(t *pathmap.Topology) ([]topo.Pair, error) {
	var ends []pathmap.NodeID
	for _, role := range []pathmap.Role{pathmap.ToR, pathmap.Host, pathmap.Switch} {
		if len(ends) > 1 {
			break
		}
		ends = ends[:0]
		for n, node := range t.Nodes() {
			if node.Role == role {
				ends = append(ends, pathmap.NodeID(n))
			}
		}
	}
	if n := len(ends); n*(n-1)/2 > mostPairs {
		return nil, fmt.Errorf("%d nodes make more than %d pairs: name those to list in a file, --pairs FILE", n, mostPairs)
	}
	var pairs []topo.Pair
	for i, s := range ends {
		for _, d := range ends[i+1:] {
			pairs = append(pairs, topo.Pair{Source: s, Target: d})
		}
	}
	return pairs, nil
}

// endsOf returns the nodes of pairs, in order, and the place of each among them.
func endsOf(pairs []topo.Pair) ([]pathmap.NodeID, map[pathmap.NodeID]int) {
	ends := make([]pathmap.NodeID, 0, 2*len(pairs))
	for _, p := range pairs {
		ends = append(ends, p.Source, p.Target)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	place := make(map[pathmap.NodeID]int, len(ends))
	for i, n := range ends {
		place[n] = i
	}
	return ends, place
}

// lister writes the paths of pairs.
type lister struct {
	t     *pathmap.Topology
	m     *pathmap.Map
	place map[pathmap.NodeID]int
}

// jsonPath is a path in JSON.
type jsonPath struct {
	Nodes    []string               `json:"nodes"`
	Ports    []int32                `json:"ports"` // by which each node but the last is left
	Links    int                    `json:"links"`
	Capacity *pathmap.BitsPerSecond `json:"capacity_bits_per_second"` // of the slowest link; null without links
}

// paths returns the paths of a pair.
func (l *lister) paths(p topo.Pair) []jsonPath {
	s, d := l.place[p.Source], l.place[p.Target]
	paths := make([]jsonPath, 0, l.m.K())
	var links []pathmap.LinkID
	for i := range l.m.Paths(s, d) {
		links = l.m.AppendPath(links[:0], s, d, i)
		path := jsonPath{Nodes: []string{l.t.Node(p.Source).Name}, Ports: make([]int32, 0, len(links)),
			Links: len(links)}
		for _, id := range links {
			link := l.t.Link(id)
			path.Nodes, path.Ports = append(path.Nodes, l.t.Node(link.To).Name), append(path.Ports, link.FromPort)
			if path.Capacity == nil || link.Capacity < *path.Capacity {
				path.Capacity = &link.Capacity
			}
		}
		paths = append(paths, path)
	}
	return paths
}

// pathList is what json writes, a pair a line.
type pathList struct {
	Topology string     `json:"topology"`
	K        int        `json:"k"`
	Seed     uint64     `json:"seed"`
	Pairs    []pairPath `json:"pairs"`
}

type pairPath struct {
	Source string     `json:"source"`
	Target string     `json:"target"`
	Paths  []jsonPath `json:"paths"`
}

// json writes a pathList, one pair a line: it can be too large to be kept.
func (l *lister) json(w io.Writer, f *pathFlags, pairs []topo.Pair) error {
	out := bufio.NewWriter(w)
	head, err := json.Marshal(f.topology)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"topology\": %s, \"k\": %d, \"seed\": %d, \"pairs\": [", head, f.k, f.seed)
	for i, p := range pairs {
		line, err := json.Marshal(pairPath{l.t.Node(p.Source).Name, l.t.Node(p.Target).Name, l.paths(p)})
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// tableRows is how many rows are laid out together; a table of millions of rows is printed in pieces.
const tableRows = 10_000

func (l *lister) table(w io.Writer, pairs []topo.Pair) error {
	var list *console.Table
	rows := 0
	flush := func() error {
		if list == nil {
			return nil
		}
		err := list.Print()
		list, rows = nil, 0
		return err
	}
	add := func(cells ...any) {
		if list == nil {
			list = console.NewTable(w, "from", "to", "path", "links", "capacity", "nodes")
		}
		list.Row(cells...)
		rows++
	}
	for _, p := range pairs {
		from, to := l.t.Node(p.Source).Name, l.t.Node(p.Target).Name
		paths := l.paths(p)
		if len(paths) == 0 {
			add(from, to, "–", "–", "–", "no path joins them")
		}
		for i, path := range paths {
			capacity := "–"
			if path.Capacity != nil {
				capacity = path.Capacity.String()
			}
			add(from, to, i+1, path.Links, capacity, strings.Join(path.Nodes, " → "))
		}
		if rows >= tableRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
