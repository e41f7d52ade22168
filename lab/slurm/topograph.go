package slurm

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"lightloom/southbound/hint"
	"lightloom/southbound/yamlfile"
)

// Keys of topograph 1.0.0: of models, and of the labels that it gives nodes.
const (
	modelDomain = "accelerator.topology.test/domain"
	labelDomain = "accelerator.topograph.run/domain"
	labelTier   = "fabric.topograph.run/tier-"
)

// The parts of a model that say where nodes are. Other annotations and labels are read over.
type (
	model struct {
		Switches map[string]modelSwitch `yaml:"switches"`
		Blocks   []modelBlock           `yaml:"blocks"`
	}
	modelSwitch struct {
		Name        string            `yaml:"name,omitempty"`
		Labels      map[string]string `yaml:"labels,omitempty"`
		Annotations map[string]string `yaml:"annotations,omitempty"`
		Switches    []string          `yaml:"switches,omitempty"`
	}
	modelBlock struct {
		Switch      string            `yaml:"switch,omitempty"`
		Nodes       []string          `yaml:"nodes"`
		Labels      map[string]string `yaml:"labels,omitempty"`
		Annotations map[string]string `yaml:"annotations,omitempty"`
	}
)

// WriteModel writes a network as a model of topograph: racks are its blocks, and racks that circuits join are one
// accelerator domain.
func (n *Network) WriteModel(w io.Writer) error {
	m := model{Switches: map[string]modelSwitch{}}
	for _, s := range n.switches() {
		if s.Children != "" {
			m.Switches[s.Switch] = modelSwitch{Switches: strings.Split(s.Children, ",")}
		}
	}
	for _, g := range n.Groups() {
		for _, r := range g.Racks {
			m.Blocks = append(m.Blocks, modelBlock{Switch: n.Racks[r].Name, Nodes: n.Racks[r].Nodes,
				Annotations: map[string]string{modelDomain: n.Racks[g.Racks[0]].Name}})
		}
	}
	b, err := yaml.Marshal(m)
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	_, err = w.Write(b)
	return err
}

// ReadModel reads a model of topograph. Each of its blocks is a rack, or blocks of one switch and domain together, and
// racks of one domain are joined. A block without a switch is a rack of its own.
func ReadModel(name string, b []byte) (Network, error) {
	var m model
	in, err := yamlfile.Decode(name, b, &m)
	if err != nil {
		return Network{}, fmt.Errorf("read model: %w", err)
	}
	above, err := m.above()
	if err != nil {
		return Network{}, fmt.Errorf("read model: %w", in.At(yamlfile.Keys{"switches"}, err))
	}
	var n Network
	last, seen, at, names := map[string]int{}, map[string]bool{}, map[[2]string]int{}, m.names(above)
	for i, block := range m.Blocks {
		rack, err := m.rack(i, above)
		for _, node := range rack.Nodes {
			if seen[node] {
				err = fmt.Errorf("node %q is there twice", node)
			}
			seen[node] = true
		}
		if err != nil {
			return Network{}, fmt.Errorf("read model: %w", in.At(yamlfile.Keys{"blocks", i}, err))
		}
		domain := m.domain(&block, above)
		key := [2]string{block.Switch, domain}
		if r, there := at[key]; there && block.Switch != "" {
			n.Racks[r].Nodes = append(n.Racks[r].Nodes, rack.Nodes...)
			continue
		}
		r := len(n.Racks)
		at[key] = r
		if block.Switch == "" {
			rack.Name = fresh(names, "block"+strconv.Itoa(i))
		} else if slices.ContainsFunc(n.Racks, func(x Rack) bool { return x.Name == rack.Name }) {
			rack.Name = fresh(names, rack.Name+"-"+strconv.Itoa(i)) // its switch has nodes of several domains
		}
		if domain != "" {
			if from, joined := last[domain]; joined {
				n.Circuits = append(n.Circuits, [2]int{from, r})
			}
			last[domain] = r
		}
		n.Racks = append(n.Racks, rack)
	}
	if len(n.Racks) == 0 {
		return n, hint.New(fmt.Sprintf("read model: %s has no blocks", name), "name a model of topograph, with a list blocks")
	}
	return n, nil
}

// above returns the switch above each that has one. As in topograph, there is one at most, and none is above itself.
func (m *model) above() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Switches)) {
		for _, child := range m.Switches[name].Switches {
			if other, has := out[child]; has {
				return nil, fmt.Errorf("switch %q is below %q and below %q", child, other, name)
			}
			out[child] = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		steps := 0
		for at := out[name]; at != ""; at = out[at] {
			if steps++; steps > len(out) {
				return nil, fmt.Errorf("switch %q is above itself", at)
			}
		}
	}
	return out, nil
}

// names are those of all switches.
func (m *model) names(above map[string]string) map[string]bool {
	out := map[string]bool{}
	for name := range m.Switches {
		out[name] = true
	}
	for name := range above {
		out[name] = true
	}
	return out
}

// fresh returns a name that none of these is, and adds it to them.
func fresh(names map[string]bool, name string) string {
	out := name
	for i := 2; names[out]; i++ {
		out = name + "-" + strconv.Itoa(i)
	}
	names[out] = true
	return out
}

// rack returns the nodes of a block, and the name of its switch.
func (m *model) rack(i int, above map[string]string) (out Rack, err error) {
	block := &m.Blocks[i]
	out.Name = block.Switch
	if _, known := m.Switches[out.Name]; out.Name != "" && !known && above[out.Name] == "" {
		return out, fmt.Errorf("block %d is below switch %q, which switches do not have: add it there", i, out.Name)
	}
	for _, word := range block.Nodes {
		names, err := expand(word)
		if err != nil {
			return out, err
		}
		out.Nodes = append(out.Nodes, names...)
		if len(out.Nodes) > mostNodes {
			return out, fmt.Errorf("more than %d nodes", mostNodes)
		}
	}
	if len(out.Nodes) == 0 {
		return out, fmt.Errorf("block %d has no nodes", i)
	}
	return out, nil
}

// domain is the block's own, or that of the nearest switch above it that has one.
func (m *model) domain(b *modelBlock, above map[string]string) string {
	d := b.Annotations[modelDomain]
	for at := b.Switch; d == "" && at != ""; at = above[at] {
		d = m.Switches[at].Annotations[modelDomain]
	}
	return d
}

// mostNodes bounds the nodes of a block.
const mostNodes = 1 << 16

var ranged = regexp.MustCompile(`^([^\[\],]*)\[([0-9,\-]+)\]([^\[\],]*)$`)

// expand returns the names that a word such as h[01-03,7] stands for.
func expand(word string) (out []string, err error) {
	m := ranged.FindStringSubmatch(word)
	if m == nil {
		if word == "" || strings.ContainsAny(word, "[], \t") {
			return nil, fmt.Errorf("%q names no nodes: write them as n1 or n[01-16]", word)
		}
		return []string{word}, nil
	}
	for part := range strings.SplitSeq(m[2], ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA != nil || errB != nil || b < a || b-a >= mostNodes || len(out) > mostNodes {
			return nil, fmt.Errorf("%q in %q is no range of numbers", part, word)
		}
		for i := a; i <= b; i++ {
			out = append(out, fmt.Sprintf("%s%0*d%s", m[1], len(first), i, m[3]))
		}
	}
	return out, nil
}

// Labels returns the labels that topograph gives nodes of a network, by node: the domain, and switches from the rack
// up.
func (n *Network) Labels() map[string]map[string]string {
	above := map[string]string{}
	for _, s := range n.switches() {
		for child := range strings.SplitSeq(s.Children, ",") {
			above[child] = s.Switch
		}
	}
	out := map[string]map[string]string{}
	for _, g := range n.Groups() {
		for _, r := range g.Racks {
			labels := map[string]string{labelDomain: labelValue(n.Racks[g.Racks[0]].Name)}
			for tier, at := 0, n.Racks[r].Name; at != ""; tier, at = tier+1, above[at] {
				labels[labelTier+strconv.Itoa(tier)] = labelValue(at)
			}
			for _, node := range n.Racks[r].Nodes {
				out[node] = maps.Clone(labels)
			}
		}
	}
	return out
}

var validLabel = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// labelValue is a name as a label can have it. topograph hashes long names; others that are no label it passes on, and
// Kubernetes refuses them, so that they are hashed here too.
func labelValue(name string) string {
	if validLabel.MatchString(name) {
		return name
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // it never fails
	return fmt.Sprintf("x%x", h.Sum64())
}

// WriteLabels writes the labels as Kubernetes takes them: a list of nodes.
func (n *Network) WriteLabels(w io.Writer) error {
	type meta struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	}
	labels := n.Labels()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		b, err := yaml.Marshal(struct {
			Version string `yaml:"apiVersion"`
			Kind    string `yaml:"kind"`
			Meta    meta   `yaml:"metadata"`
		}{"v1", "Node", meta{name, labels[name]}})
		if err != nil {
			return fmt.Errorf("write labels: %w", err)
		}
		if _, err := fmt.Fprintf(w, "---\n%s", b); err != nil {
			return err
		}
	}
	return nil
}
