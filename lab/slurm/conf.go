package slurm

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"lightloom/southbound/hint"
)

// Version is that of a Slurm: 26.05 is {26, 5}.
type Version [2]int

var versionText = regexp.MustCompile(`(\d+)\.(\d+)`)

// ParseVersion reads what slurmctld -V prints, or a package's version.
func ParseVersion(text string) (Version, error) {
	m := versionText.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("read version of Slurm: %q holds none", strings.TrimSpace(text))
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return Version{}, fmt.Errorf("read version of Slurm: %w", err)
	}
	minor, err := strconv.Atoi(m[2])
	if err != nil {
		return Version{}, fmt.Errorf("read version of Slurm: %w", err)
	}
	return Version{major, minor}, nil
}

func (v Version) String() string { return fmt.Sprintf("%d.%02d", v[0], v[1]) }

// AtLeast reports whether v is that version or a later one.
func (v Version) AtLeast(major, minor int) bool {
	return v[0] > major || v[0] == major && v[1] >= minor
}

// YAML reports whether it reads topology.yaml, and nodes move between topology units without a reconfigure.
func (v Version) YAML() bool { return v.AtLeast(25, 5) }

// unwritten are topologies of 22.05 that no fabric can be written as, and why.
var unwritten = map[string]string{
	"3d_torus": "Debian builds Slurm for one dimension, and its slurmctld ends: current logic only supports 3-dimensions",
	"hypercube": "its switches are named as those of SGI's ICE, such as r0i1s2, and lie at the corners of a cube, which " +
		"racks do not",
}

// CheckKind returns an error if it is known why no fabric is written as a topology.
func CheckKind(kind string) error {
	if why, known := unwritten[kind]; known {
		return hint.New(fmt.Sprintf("write topology: topology/%s of Slurm 22.05 is not written: %s", kind, why),
			"write --plugin tree, or torus3d with Slurm 26.05")
	}
	return nil
}

// Has returns an error unless it has a topology.
func (v Version) Has(kind string) error {
	if err := CheckKind(kind); err != nil {
		return err
	}
	since := map[string]Version{Tree: {0, 0}, Block: {24, 5}, Ring: {26, 5}, Torus: {26, 5}}
	if from := since[kind]; !v.AtLeast(from[0], from[1]) {
		return hint.New(fmt.Sprintf("Slurm %s has no topology/%s, which came with %s", v, kind, from),
			"write --plugin tree, or name a root with a later Slurm: lightloom slurm root DIR")
	}
	return nil
}

//go:embed job_submit.lua
var jobSubmit string

// Script is job_submit.lua, which holds jobs that ask for circuits.
func Script() string { return jobSubmit }

// Lines are what slurm.conf says for it.
const Lines = "JobSubmitPlugins=lua\n"

// running is where the files of a Slurm over an emulated fabric are, in its root.
const running = "/run/lightloom-slurm"

// Host is a node of an emulated fabric.
type Host struct {
	Name, Address string
	CPUs          int
	Memory        int // MB
}

// What reaches slurm.conf and shells as it stands.
var (
	plainHost = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	plainDir  = regexp.MustCompile(`^[A-Za-z0-9/._-]+$`)
)

// Files returns the configuration of a Slurm over an emulated fabric, by name.
func Files(v Version, kind string, n *Network, hosts []Host) (map[string]string, error) {
	if err := v.Has(kind); err != nil {
		return nil, err
	}
	for _, h := range hosts {
		if !plainHost.MatchString(h.Name) {
			return nil, hint.New(fmt.Sprintf("write slurm.conf: host %q is no name of a node", h.Name),
				"name hosts by letters, digits, dots, dashes and underscores, a letter or digit first")
		}
	}
	files := map[string]string{"job_submit.lua": jobSubmit}
	files["contexts.yaml"] = "current: slurm\ncontexts:\n  slurm: {socket: " + running + "/api.sock}\n"
	files["slurm.conf"] = conf(v, kind, hosts)
	files["cgroup.conf"] = "CgroupPlugin=disabled\n" // namespaces may have none
	if !v.AtLeast(23, 2) {
		files["cgroup.conf"] = "CgroupPlugin=cgroup/v1\n" // slurmd begins with one, and no plug-in of ours uses it
	}
	var b strings.Builder
	if err := n.Write(&b, Options{Kind: kind, YAML: v.YAML()}); err != nil {
		return nil, err
	}
	files[FileName(v)] = b.String()
	return files, nil
}

// FileName is the name of the topology file that a Slurm reads.
func FileName(v Version) string {
	if v.YAML() {
		return "topology.yaml"
	}
	return "topology.conf"
}

func conf(v Version, kind string, hosts []Host) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterName=lightloom\nSlurmctldHost=%s(%s)\n", hosts[0].Name, hosts[0].Address)
	b.WriteString("SlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nMailProg=/bin/true\nMpiDefault=none\n" +
		"ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nReturnToService=2\n" +
		"SlurmdParameters=config_overrides\nKillWait=5\nSlurmctldTimeout=30\nSlurmdTimeout=60\nMinJobAge=60\n" +
		"SchedulerParameters=bf_interval=2,sched_interval=2,sched_min_interval=100000,batch_sched_delay=0\n" + Lines)
	fmt.Fprintf(&b, "StateSaveLocation=%[1]s/ctld\nSlurmdSpoolDir=%[1]s/%%n\nSlurmctldPidFile=%[1]s/slurmctld.pid\n"+
		"SlurmdPidFile=%[1]s/%%n.pid\nSlurmctldLogFile=%[1]s/slurmctld.log\nSlurmdLogFile=%[1]s/%%n.log\n", running)
	if !v.YAML() {
		fmt.Fprintf(&b, "TopologyPlugin=topology/%s\n", kind)
	}
	for _, h := range hosts {
		fmt.Fprintf(&b, "NodeName=%s NodeAddr=%s NodeHostname=%[1]s CPUs=%[3]d RealMemory=%[4]d\n", h.Name, h.Address, h.CPUs,
			h.Memory)
	}
	b.WriteString("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n")
	return b.String()
}

// Root is a tree of files with a Slurm, or / for that of the machine.
type Root struct {
	Dir     string
	Version Version
	User    string // who jobs are by default
}

// DefaultRoot is where lightloom slurm root puts one.
const DefaultRoot = "/var/lib/lightloom/slurm"

// FindRoot returns the Slurm in a directory; an empty one stands for DefaultRoot if it is there, and then for the
// machine's. version runs slurmctld -V of the machine.
func FindRoot(dir string, version func() (string, error)) (Root, error) {
	const remedy = "make one, which takes two minutes: lightloom slurm root " + DefaultRoot
	r := Root{Dir: DefaultRoot, User: "nobody"}
	if dir != "" {
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return r, fmt.Errorf("find Slurm: %w", err)
		}
		r.Dir = dir
	}
	if !plainDir.MatchString(r.Dir) {
		return r, hint.New(fmt.Sprintf("find Slurm: directory %q is no plain path", r.Dir),
			"name one of letters, digits, dots, dashes and underscores, such as "+DefaultRoot)
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, "etc/lightloom-slurm"))
	switch {
	case err == nil:
		r.User = "lab"
	case dir != "" && dir != "/":
		return r, hint.Wrap(fmt.Errorf("find Slurm: %s is no root of lightloom slurm root: %w", dir, err), remedy)
	default:
		said, err := version()
		if err != nil {
			return r, hint.Wrap(fmt.Errorf("find Slurm: none is installed, and there is no root for it: %w", err), remedy)
		}
		r.Dir, text = "/", []byte(said)
	}
	if r.Version, err = ParseVersion(string(text)); err == nil && !r.Version.AtLeast(22, 5) {
		err = hint.New(fmt.Sprintf("find Slurm: %s is too old: 22.05 is the first that was tried", r.Version), remedy)
	}
	if err != nil {
		return r, errors.Join(err)
	}
	return r, r.check()
}

// check returns an error unless the plug-in that is needed is there.
func (r *Root) check() error {
	const name = "job_submit_lua.so"
	for _, where := range []string{"usr/lib/*/slurm*", "usr/lib*/slurm*"} {
		if found, err := filepath.Glob(filepath.Join(r.Dir, where, name)); err == nil && len(found) > 0 {
			return nil
		}
	}
	return hint.New(fmt.Sprintf("find Slurm: %s of %s lacks the plug-in %s", r.Version, r.Dir, name),
		"install the packages of a distribution that builds Slurm with Lua, or make a root: "+
			"lightloom slurm root "+DefaultRoot)
}
