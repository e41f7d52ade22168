package slurm

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/lab/session"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

//go:embed root.sh
var rootScript string

//go:embed boot.sh
var bootScript string

// MakeRoot makes a directory with the Slurm of a Debian suite.
func MakeRoot(ctx context.Context, suite, dir string, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "sh", "-s", suite, dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(rootScript), stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make a root for Slurm: %w", err)
	}
	return nil
}

// MachineVersion asks the machine's slurmctld for its version.
func MachineVersion() (string, error) {
	out, err := exec.Command("slurmctld", "-V").Output()
	return string(out), err
}

// Start starts Slurm over the fabric that is up: its controller in the first host, a slurmd in each, and an agent. All
// of it ends with the fabric.
func Start(ctx context.Context, root Root, kind string, stdout io.Writer) error {
	if os.Geteuid() != 0 {
		return hint.New("start Slurm: it takes root, whose jobs are of other users", "type sudo before the command")
	}
	client, err := session.Dial(northbound.Flags{Context: northbound.Up})
	if err != nil {
		return err
	}
	defer client.Close()
	n, err := Ask(ctx, client)
	if err != nil {
		return err
	}
	hosts := n.hosts()
	files, err := Files(root.Version, kind, &n, hosts)
	if err != nil {
		return err
	}
	if err := boot(ctx, root, files, hosts[0].Name); err != nil {
		return err
	}
	if err := session.ListenAPI(filepath.Join(root.Dir, running, "api.sock")); err != nil {
		return err
	}
	daemon := "chroot '" + root.Dir + "' env SLURM_CONF=" + running + "/slurm.conf "
	logs := filepath.Join(root.Dir, running)
	agent := "LIGHTLOOM_CONTEXTS=" + running + "/contexts.yaml " + running + "/lightloom slurm agent --plugin " + kind +
		" --file " + running + "/" + FileName(root.Version)
	if err := in(ctx, hosts[0].Name, orSay(daemon+"slurmctld -i", logs+"/slurmctld.log")+
		"\nsetsid "+daemon+agent+" >'"+logs+"/agent.log' 2>&1 </dev/null &"); err != nil {
		return err
	}
	for _, h := range hosts {
		if err := in(ctx, h.Name, orSay(daemon+"slurmd -N "+h.Name, logs+"/"+h.Name+".log")); err != nil {
			return err
		}
	}
	if err := in(ctx, hosts[0].Name, registered, root.Dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "slurm: %s of %s, %d nodes, topology/%s; jobs are of user %s\n"+
		"try:  lightloom slurm shell -- sinfo\n      lightloom slurm shell -- srun -N2 hostname\n", root.Version, root.Dir,
		len(hosts), kind, root.User)
	return err
}

// registered waits until all nodes are idle, or says in Slurm's words why not.
const registered = `slurm() { chroot "$root" env SLURM_CONF=` + running + `/slurm.conf "$@"; }
root=$1
for try in $(seq 300); do
  slurm sinfo --noheader --Node --format=%t 2>/dev/null | grep -qv '^idle' || exit 0
  sleep 0.1
done
slurm sinfo --list-reasons; exit 1`

// orSay is a command whose log says why it fails: Slurm's own words.
func orSay(command, log string) string {
	return command + " || { grep -E 'error|fatal' '" + log + "' | tail -n 5; exit 1; }"
}

// hosts are the nodes, with the addresses of the fabric's plan and an equal share of the machine's memory.
func (n *Network) hosts() (out []Host) {
	for r := range n.Racks {
		for i, name := range n.Racks[r].Nodes {
			out = append(out, Host{name, southbound.Addr(southbound.RackID(r), i).String(), 2, 100})
		}
	}
	var is unix.Sysinfo_t
	if unix.Sysinfo(&is) == nil {
		for i := range out {
			out[i].Memory = max(100, int(is.Totalram*uint64(is.Unit)>>20)/len(out))
		}
	}
	return out
}

// boot lays out the configuration and starts what all hosts share.
func boot(ctx context.Context, root Root, files map[string]string, first string) error {
	dir, err := os.MkdirTemp("", "lightloom-slurm")
	if err != nil {
		return fmt.Errorf("start Slurm: %w", err)
	}
	defer os.RemoveAll(dir)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("start Slurm: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start Slurm: find the program: %w", err)
	}
	return in(ctx, first, bootScript, root.Dir, dir, self)
}

// in runs a script in a host of the fabric that is up. What it prints is in the error.
func in(ctx context.Context, host, script string, args ...string) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("start Slurm: %w", err)
	}
	defer null.Close()
	out, err := os.CreateTemp("", "lightloom-slurm") // daemons would keep a pipe open
	if err != nil {
		return fmt.Errorf("start Slurm: %w", err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	err = session.Exec(ctx, session.ExecOptions{Host: host, Stdin: null, Stdout: out, Stderr: out,
		Command: append([]string{"sh", "-c", script, "sh"}, args...)})
	if err == nil {
		return nil
	}
	var exit *console.ExitError
	if errors.As(err, &exit) && exit.Err == nil { // it says nothing itself
		err = fmt.Errorf("exit status %d", exit.Code)
	}
	said, _ := os.ReadFile(out.Name()) // the error says enough without
	return fmt.Errorf("start Slurm in %s: %w: %s", host, err, bytes.TrimSpace(said))
}

// Shell runs a command, or a shell, in a host as a user of the Slurm that is up.
func Shell(ctx context.Context, host, user string, command []string, opt session.ExecOptions) error {
	const script = `[ -e /run/lightloom-slurm.env ] ||
  { echo "no Slurm is up; start one: lightloom slurm up" >&2; exit 1; }
. /run/lightloom-slurm.env
user=$1; shift
[ -n "$user" ] || { user=nobody; grep -q ^lab: "$root/etc/passwd" && user=lab; }
dir=$PWD
[ $# -gt 0 ] || set -- /bin/bash
cd /
exec chroot --userspec="$user" "$root" env HOME=/tmp TMPDIR=/tmp USER="$user" \
  SLURM_CONF=/run/lightloom-slurm/slurm.conf PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
  sh -c 'cd "$0" 2>/dev/null && [ -w . ] || cd /tmp; exec "$@"' "$dir" "$@"`
	if host == "" {
		n, err := session.AskNames()
		if err != nil {
			return err
		}
		host = n.Hosts[0]
	}
	opt.Host, opt.Command = host, append([]string{"sh", "-c", script, "sh", user}, command...)
	return session.Exec(ctx, opt)
}
