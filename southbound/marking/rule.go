package marking

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"lightloom/southbound/yamlfile"
)

// Rule has packets of the processes in a cgroup, or in one below it, carry a DSCP.
type Rule struct {
	Cgroup string       // below the root of cgroups, or a path of a mounted one
	To     netip.Prefix // IPv4
	DSCP   uint8
}

// maxRules bounds the rules of a machine.
const maxRules = 1024

// maxDSCP is the largest of six bits.
const maxDSCP = 63

// entry is a rule as users write it.
type entry struct {
	Cgroup string `yaml:"cgroup"`
	To     string `yaml:"to"`
	DSCP   *int   `yaml:"dscp"`
}

// Parse reads the rules of a file of that name: `tags: [{cgroup: app.slice, to: 10.0.1.0/24, dscp: 3}]`.
func Parse(name string, data []byte) ([]Rule, error) {
	var file struct {
		Tags []entry `yaml:"tags"`
	}
	at, err := yamlfile.Decode(name, data, &file)
	if err != nil {
		return nil, err
	}
	if len(file.Tags) > maxRules {
		return nil, at.At(yamlfile.Keys{"tags"},
			fmt.Errorf("%d rules: at most %d are taken", len(file.Tags), maxRules))
	}
	var rules []Rule
	for i, e := range file.Tags {
		dscp := -1
		if e.DSCP != nil {
			dscp = *e.DSCP
		}
		r, key, err := newRule(e.Cgroup, e.To, dscp)
		if err == nil && slices.ContainsFunc(rules, r.covers) {
			err = fmt.Errorf("cgroup %q has a rule to %v already: leave one", r.Cgroup, r.To)
		}
		if err != nil {
			return nil, at.At(yamlfile.Keys{"tags", i, key}, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (r Rule) covers(o Rule) bool { return r.Cgroup == o.Cgroup && r.To == o.To }

// NewRule makes a rule of what a user wrote.
func NewRule(cgroup, to string, dscp int) (Rule, error) {
	r, _, err := newRule(cgroup, to, dscp)
	return r, err
}

// newRule is NewRule; key is that of what is wrong.
func newRule(cgroup, to string, dscp int) (r Rule, key string, err error) {
	if r.Cgroup = strings.Trim(cgroup, "/"); strings.HasPrefix(cgroup, cgroupDir) {
		r.Cgroup = path.Clean(cgroup)
	}
	if r.Cgroup == "" || r.Cgroup == path.Clean(cgroupDir) {
		return r, "cgroup", fmt.Errorf("cgroup %q names none: write one below the root, such as system.slice/app.service",
			cgroup)
	}
	if r.To, err = parseTo(to); err != nil {
		return r, "to", err
	}
	if dscp < 0 || dscp > maxDSCP {
		return r, "dscp", fmt.Errorf("dscp is %d or missing: write 0 to %d, such as lightloom reserve prints", dscp, maxDSCP)
	}
	r.DSCP = uint8(dscp)
	return r, "dscp", nil
}

// parseTo reads an IPv4 address or prefix.
func parseTo(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if a, aerr := netip.ParseAddr(text); aerr == nil && a.Is4() {
		p, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if err != nil || !p.Addr().Is4() {
		return netip.Prefix{}, fmt.Errorf("to %q is no IPv4 address or prefix: write 10.0.1.1 or 10.0.1.0/24", text)
	}
	return p.Masked(), nil
}
