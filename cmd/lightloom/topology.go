package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/console"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// topologyHelp lists the forms of a topology.
func topologyHelp() string {
	var b strings.Builder
	b.WriteString("A TOPOLOGY is a file, whose name tells its format:\n")
	for _, f := range topo.Formats() {
		fmt.Fprintf(&b, "  %-8s %-24s %s\n", f.Name, strings.Join(f.Ends, ", "), f.Doc)
	}
	b.WriteString("or a line of text, what is left out having a default:\n  hybrid:racks=8,hosts=2,spines=2  " +
		"leafspine:…  crossbar:ports=8  pod:cubes=8,side=2\n")
	for _, g := range topo.Generators() {
		b.WriteString("  " + g + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func newTopology() *cobra.Command {
	c := &cobra.Command{
		Use:   "topology",
		Short: "Convert, show and check topologies",
		Long: "Converts, shows and checks topologies.\n\n" + topologyHelp() + "\n\n" +
			"In every format a link is a cable with two directions. Links between the same two nodes are parallel cables; a " +
			"link\n" +
			"from a node to itself, and a capacity of zero or below, are errors. A link without a capacity has 1 Gb/s, a " +
			"node\n" +
			"without a role is a switch. In a directed graph, two links that are each other's way back are one cable, and " +
			"one\n" +
			"without a way back is an error. Nodes need not be connected: where no path joins two, their list is empty.",
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTopologyConvert(), newTopologyShow(), newTopologyValidate())
	return c
}

func newTopologyConvert() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "convert TOPOLOGY FILE",
		Short: "Write a topology in another format",
		Long: "Writes a topology as FILE, whose name tells the format; - is the standard output, and needs --to.\n\n" +
			topologyHelp(),
		Example: "  lightloom topology convert lab.clab.yml lab.yaml\n  lightloom topology convert fattree:k=4 - --to dot",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("lightloom topology convert lab.clab.yml lab.yaml",
					"convert: want a topology and a file, got %d",
					len(args))
			}
			return nil
		},
	}
	c.Flags().StringVar(&to, "to", "", "format to write: "+strings.Join(topo.FormatNames(), ", ")+
		"; default: as FILE's name tells")
	c.RunE = func(c *cobra.Command, args []string) error {
		format, err := formatFor(c, to, args[1])
		if err != nil {
			return err
		}
		t, err := load(c, args[0])
		if err != nil {
			return fmt.Errorf("convert: %w", hint.Wrong(err))
		}
		if args[1] == "-" {
			return written("convert", format.Write(c.OutOrStdout(), t))
		}
		return written("convert", writeFile(args[1], func(w io.Writer) error { return format.Write(w, t) }))
	}
	return c
}

// formatFor returns the format that --to names, or else the file's name.
func formatFor(c *cobra.Command, to, file string) (topo.Format, error) {
	if to != "" {
		if err := oneOf(c, "to", to, topo.FormatNames()...); err != nil {
			return topo.Format{}, err
		}
		return topo.FormatNamed(to)
	}
	if file == "-" {
		return topo.Format{}, usage("add --to json, or another of "+strings.Join(topo.FormatNames(), ", "),
			"convert: the standard output has no name that tells the format")
	}
	f, err := topo.FormatOf(file)
	if err != nil {
		return f, usage("name the file "+file+".json, or add --to json", "convert: %w", err)
	}
	return f, nil
}

// writeFile writes a file whole or not at all: beside its place first, unless that is a device or a pipe.
func writeFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := write(f); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lightloom-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func written(command string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

func newTopologyShow() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "show TOPOLOGY",
		Short:   "Show a topology's nodes, and what they are joined to",
		Long:    "Shows a topology's figures and its nodes.\n\n" + topologyHelp(),
		Example: "  lightloom topology show lab.yaml\n  lightloom topology show jellyfish:switches=20,degree=4 -o json",
		Args:    one("topology", "lightloom topology show lab.yaml"),
	}
	outputFlag(c, &output, nodeLink{})
	c.RunE = func(c *cobra.Command, args []string) error {
		t, err := load(c, args[0])
		if err != nil {
			return fmt.Errorf("show: %w", hint.Wrong(err))
		}
		if output == console.OutputJSON {
			format, err := topo.FormatNamed("json")
			if err != nil {
				return err
			}
			return written("show", format.Write(c.OutOrStdout(), t))
		}
		if spec, err := topo.FromArgument(args[0]); err == nil && spec.Picture() != "" {
			fmt.Fprintln(c.OutOrStdout(), spec.Picture())
		}
		return written("show", showTopology(c.OutOrStdout(), t))
	}
	return c
}

// mostShown bounds the neighbours listed for a node.
const mostShown = 12

func showTopology(w io.Writer, t *pathmap.Topology) error {
	list := console.NewTable(w, "node", "role", "rack", "links", "joined to")
	for n, node := range t.Nodes() {
		rack := "–"
		if node.Rack != pathmap.None {
			rack = fmt.Sprint(node.Rack)
		}
		out := t.Out(pathmap.NodeID(n))
		var near []string
		for _, l := range out[:min(len(out), mostShown)] {
			link := t.Link(l)
			near = append(near, fmt.Sprintf("%s %v", t.Node(link.To).Name, link.Capacity))
		}
		if len(out) > mostShown {
			near = append(near, fmt.Sprintf("and %d more", len(out)-mostShown))
		}
		list.Row(node.Name, node.Role.String(), rack, len(out), strings.Join(near, ", "))
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", list.Render(), surveyed(topo.NewSurvey(t)))
	return err
}

// surveyed describes a topology in one line.
func surveyed(s topo.Survey) string {
	parts := "connected"
	if s.Parts != 1 {
		parts = fmt.Sprintf("in %d parts", s.Parts)
	}
	text := fmt.Sprintf("%s (%s, %s, %s, %d OCS), %s", console.Count(s.Nodes, "node"),
		console.Count(s.Hosts, "host"),
		console.Count(s.ToRs, "ToR"), console.Count(s.Switches,
			"switch"), s.OCS, console.Count(s.Cables, "link"))
	if s.Parallel > 0 {
		text += fmt.Sprintf(" (%d parallel)", s.Parallel)
	}
	if s.Cables > 0 {
		text += fmt.Sprintf(" of %v", s.Slowest)
		if s.Fastest != s.Slowest {
			text += fmt.Sprintf(" to %v", s.Fastest)
		}
	}
	return text + ", " + parts
}

func newTopologyValidate() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "validate TOPOLOGY...",
		Short: "Check topologies",
		Long: "Reads topologies and says of each in one line what it is, and what paths will not find in it: parts that " +
			"nothing\n" +
			"joins. Status 1 if one cannot be read.\n\n" + topologyHelp(),
		Example: "  lightloom topology validate lab.yaml lab.clab.yml",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("lightloom topology validate lab.yaml", "validate: there is no topology to check")
			}
			return nil
		},
	}
	outputFlag(c, &output, verdicts{})
	c.RunE = func(c *cobra.Command, args []string) error {
		return validate(c, args, output == console.OutputJSON)
	}
	return c
}

// nodeLink is a topology as node-link JSON has it, with any attributes.
type nodeLink struct {
	Nodes []map[string]any `json:"nodes"`
	Links []map[string]any `json:"links"`
}

// verdicts are the result of validate in JSON.
type verdicts struct {
	Topologies []verdict `json:"topologies"`
}

// verdict is what validate says of one topology.
type verdict struct {
	Topology string   `json:"topology"`
	Valid    bool     `json:"valid"`
	Error    string   `json:"error,omitempty"`
	Nodes    int      `json:"nodes"`
	Hosts    int      `json:"hosts"`
	Links    int      `json:"links"`
	Parallel int      `json:"parallel_links"`
	Parts    int      `json:"parts"`
	Apart    []string `json:"apart"` // a node of each part but the largest, some
}

// mostApart bounds the parts that are named.
const mostApart = 8

// load reads a topology, which may take seconds, unless the command is interrupted.
func load(c *cobra.Command, arg string) (*pathmap.Topology, error) {
	return console.Until(c.Context(), func() (*pathmap.Topology, error) { return topo.Load(arg) })
}

func validate(c *cobra.Command, args []string, asJSON bool) error {
	w, bad := c.OutOrStdout(), 0
	var first error
	all := verdicts{Topologies: make([]verdict, 0, len(args))}
	for _, arg := range args {
		v := verdict{Topology: arg, Apart: []string{}}
		line := ""
		t, err := load(c, arg)
		if err != nil {
			bad++
			first = cmpFirst(first, err)
			v.Error, line = err.Error(), console.Short(err.Error())
		} else {
			s := topo.NewSurvey(t)
			v.Valid, v.Nodes, v.Hosts, v.Links, v.Parallel, v.Parts = true, s.Nodes, s.Hosts, s.Cables, s.Parallel, s.Parts
			for _, n := range s.Apart[:min(len(s.Apart), mostApart)] {
				v.Apart = append(v.Apart, t.Node(n).Name)
			}
			line = fmt.Sprintf("%s: valid: %s%s", arg, surveyed(s), describeParts(s, v.Apart))
		}
		all.Topologies = append(all.Topologies, v)
		if asJSON || len(args) == 1 && err != nil {
			continue
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("validate: %w", err)
		}
	}
	if asJSON {
		if err := console.WriteJSON(w, all); err != nil {
			return fmt.Errorf("validate: %w", err)
		}
	}
	switch {
	case bad == 0:
		return nil
	case len(args) == 1:
		return fmt.Errorf("validate: %w", first)
	}
	return fmt.Errorf("validate: %d of %d topologies are not valid", bad, len(args))
}

func cmpFirst(first, err error) error {
	if first != nil {
		return first
	}
	return err
}

// describeParts names the parts that no path connects to the largest.
func describeParts(s topo.Survey, names []string) string {
	if len(names) == 0 {
		return ""
	}
	names = slices.Clone(names)
	if more := len(s.Apart) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "; no path joins the rest with " + strings.Join(names, ", ")
}
