package mininet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/emulator/netns/netnstest"
	"lightloom/lab/labtest"
	"lightloom/southbound/noise"
)

// needMininet skips a test, with the reason, where Mininet cannot run, unless LIGHTLOOM_MUST names mininet.
func needMininet(t *testing.T) {
	t.Helper()
	err := mininetHere()
	switch must := strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","); {
	case err == nil:
	case slices.Contains(must, "mininet"):
		t.Fatalf("LIGHTLOOM_MUST names mininet: %v", err)
	default:
		t.Skipf("needs mininet: %v", err)
	}
}

func mininetHere() error {
	if os.Getuid() != 0 {
		return errors.New("it needs root")
	}
	for _, tool := range []string{"mn", "mnexec", "unshare", "ip", "tc", "ifconfig", "ping",
		"iperf", "telnet"} {
		if _, err := exec.LookPath(tool); err != nil {
			return errors.New(tool + " is missing: apt-get install --no-install-recommends mininet iperf iputils-ping ethtool " +
				"net-tools telnet")
		}
	}
	return nil
}

// laboratory is a place in which Mininet can run, and clean up after itself, without effects on other programs.
type laboratory struct {
	t       *testing.T
	dir     string
	measure func(t testing.TB, times int, once func() error)
}

// newLaboratory makes one. While a test measures with narrow bounds no other test has namespaces; all others run beside
// each other.
func newLaboratory(t *testing.T, measures bool) *laboratory {
	t.Helper()
	needMininet(t)
	if testing.Short() {
		t.Skip("starts Mininet")
	}
	if !measures {
		t.Parallel()
	}
	l := &laboratory{t, t.TempDir(), noise.Measure}
	labtest.CopyProgram(t, l.dir)
	if measures {
		netnstest.Lock(t)
	} else {
		l.measure = netnstest.Share(t).Measure
	}
	labtest.Output(t, "mininet", "install", l.dir)
	return l
}

// sub is the same for a test within that does not run in parallel, with a script of its own.
func (l *laboratory) sub(t *testing.T) *laboratory {
	t.Helper()
	s := &laboratory{t, t.TempDir(), l.measure}
	for _, name := range []string{"lightloom", "lightloom.py"} {
		if err := os.Link(filepath.Join(l.dir, name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// inside is run by a shell that is the first process of namespaces of its own, with its own /run and /tmp, because
// Mininet's cleanup removes files of others in /tmp. It prints what is left afterwards.
const inside = `
mount -t tmpfs tmpfs /run && cp lightloom lightloom.py script /run && cd /run && mount -t tmpfs tmpfs /tmp || exit 9
ip link set lo up
export LIGHTLOOM=/run/lightloom
eval "$MN" < /dev/null
echo "status $?"
for i in $(seq 1200); do
  left=$(ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c '/lightloom\( (deleted)\)\?$')
  [ "$left" = 0 ] && break
  sleep 0.1
done
echo "left $left processes, $(ls -d /run/lightloom-* /tmp/lightloom-* 2>/dev/null | wc -l) directories"
`

// mn runs a command line of Mininet with the commands given, and returns its output.
func (l *laboratory) mn(args string, commands ...string) string {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, "script"), []byte(strings.Join(commands, "\n")+"\n"),
		0o644); err != nil {
		l.t.Fatal(err)
	}
	// Shorter than what go test allows a package, so that a line that hangs shows what it printed.
	ctx, cancel := context.WithTimeout(l.t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-p", "-f", "-n", "-m", "--mount-proc", "--kill-child",
		"sh", "-c", inside)
	cmd.Dir, cmd.Env = l.dir, append(os.Environ(), "MN=mn "+args)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		l.t.Fatalf("mn %s: %v\n%s", args, err, &out)
	}
	return out.String()
}

// TestMininetReadme runs what mininet/README.md shows.
func TestMininetReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(labtest.Repository(t), "mininet", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := sessions(string(text))
	if len(shown) != 3 || len(shown[0].commands) < 8 || len(shown[1].commands) != 1 {
		t.Fatalf("the README shows %+v", shown)
	}
	shown[2].commands = inContainers // waits for the jobs, then looks into the containers
	t.Run("network", func(t *testing.T) { network(t, newLaboratory(t, false), shown[0]) })
	t.Run("jobs", func(t *testing.T) { jobs(t, newLaboratory(t, false), shown[1]) })
	t.Run("containers", func(t *testing.T) { jobs(t, newLaboratory(t, false), shown[2]) })
}

// mininetSession is a document's session with Mininet: the command line, and the commands typed.
type mininetSession struct {
	args     string
	commands []string
}

func sessions(text string) []mininetSession {
	var all []mininetSession
	for line := range strings.Lines(text) {
		if args, ok := strings.CutPrefix(line, "$ mn "); ok {
			all = append(all, mininetSession{args: strings.TrimSpace(args)})
		}
		if c, ok := strings.CutPrefix(line, "mininet> "); ok && strings.TrimSpace(c) != "exit" && len(all) > 0 {
			s := &all[len(all)-1]
			s.commands = append(s.commands, strings.TrimSpace(c))
		}
	}
	return all
}

// jobs runs a session and checks that every byte is received once, and that large transfers use circuits.
func jobs(t *testing.T, l *laboratory, s mininetSession) {
	l.measure(t, 3, func() error {
		out, few := jobsOnce(t, l, s)
		if strings.Contains(s.args, "container") {
			checkContainers(t, out, 8, 8)
		}
		return few
	})
}

// jobsOnce returns what Mininet says, and by how much the bytes over circuits fall short of the large transfers. If
// others keep the controller from its processor, packets carry them before their circuits are in service.
func jobsOnce(t *testing.T, l *laboratory, s mininetSession) (out string, few error) {
	t.Helper()
	out = l.sub(t).mn(s.args+" --test none --post script", append(s.commands, "ocs cat /proc/net/dev")...)
	m := regexp.MustCompile(`replayed: 8 jobs, \d+ coflows, (\d+) bytes of which (\d+) received, .* (\d+) circuits`).
		FindStringSubmatch(out)
	if m == nil || m[1] != m[2] || m[1] == "0" || m[3] == "0" {
		t.Errorf("want all bytes received once, and circuits; got %q", m)
	}
	light := 0
	for _, port := range regexp.MustCompile(`ocs-eth\d+: +(\d+)`).FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(port[1]) // the expression lets only numbers through
		light += n
	}
	if light < 10<<20 { // an elephant here has 9 × 10 ms × 1 Gb/s = 11.25 MB
		few = fmt.Errorf("%d bytes have come into the OCS, want an elephant at least", light)
	}
	if !strings.Contains(out, "status 0") || !strings.Contains(out, "left 0 processes, 0 directories") {
		t.Error("Mininet has not ended well, or left something")
	}
	if t.Failed() || few != nil {
		t.Log(out)
	}
	return out, few
}

// network: pings reach all hosts, also around a link that is down, and bandwidths are those of the links.
func network(t *testing.T, l *laboratory, s mininetSession) {
	l.measure(t, 3, func() error { return networkOnce(t, l, s) })
}

// networkOnce returns by how much a bandwidth is below its link's; other work on the machine can cause this.
func networkOnce(t *testing.T, l *laboratory, s mininetSession) (slow error) {
	t.Helper()
	out := l.sub(t).mn(s.args+" --test none --post script", s.commands...)
	if got := strings.Count(out, "*** Results: 0% dropped (56/56 received)"); got != 2 {
		t.Errorf("%d of 2 pingalls have reached every host", got)
	}
	for i, want := range []float64{50, 500} { // Mb/s of the slowest link, of which TCP's payload is at most 1448/1514
		got := iperfs(out)
		if len(got) != 2 || got[i] > want*1.02 {
			t.Errorf("iperf %d has measured %v Mb/s, want about %v", i, got, want*1448/1514)
			break
		}
		if got[i] < want*0.7 {
			slow = fmt.Errorf("iperf %d has measured %v Mb/s, want about %v", i, got, want*1448/1514)
		}
	}
	if !strings.Contains(out, "status 0") || !strings.Contains(out, "left 0 processes, 0 directories") {
		t.Error("Mininet has not ended well, or left something")
	}
	if t.Failed() {
		t.Log(out)
	}
	return slow
}

// iperfs returns what the server of each iperf has measured, in Mb/s.
func iperfs(out string) []float64 {
	var rates []float64
	for _, m := range regexp.MustCompile(`\*\*\* Results: \['([0-9.]+) Mbits/sec'`).FindAllStringSubmatch(out, -1) {
		v, _ := strconv.ParseFloat(m[1], 64) // the expression lets only numbers through
		rates = append(rates, v)
	}
	return rates
}

// refusals runs each line in a process that has Mininet's modules from this one, which takes a quarter of the time of
// programs of their own, and tells what it leaves.
const refusals = `
import glob, json, os, runpy, shutil, sys, time
import mininet.cli, mininet.examples, mininet.link, mininet.net, mininet.node

def processes():
    "How many of ours run?"
    found = 0
    for exe in glob.glob('/proc/[0-9]*/exe'):
        try:
            found += os.readlink(exe).endswith(('/lightloom', '/lightloom (deleted)'))
        except OSError:
            pass
    return found

for name, line in json.load(open('lines.json')):
    print('=== ' + name, flush=True)
    child = os.fork()
    if not child:
        sys.argv = ['mn'] + line.split()
        runpy.run_path(shutil.which('mn'), run_name='__main__')
        sys.exit()
    os.waitpid(child, 0)
    for _ in range(1200):
        if not processes():
            break
        time.sleep(0.1)
    left = len(glob.glob('/run/lightloom-*') + glob.glob('/tmp/lightloom-*'))
    print('left %d processes, %d directories' % (processes(), left), flush=True)
`

// refusedTopos are topologies of users that are refused.
const refusedTopos = `
from mininet.link import TCLink
from mininet.topo import Topo
class Two(Topo):
    "A rack with two optical switches."
    def build(self):
        tor, spine = self.addSwitch('tor0', role='tor'), self.addSwitch('s1')
        self.addLink(self.addHost('h1'), tor)
        for s in (spine, self.addSwitch('ocs1'), self.addSwitch('ocs2')):
            self.addLink(tor, s)
class Slow(Topo):
    "A rack whose host is far away, by a link of Mininet's own."
    def build(self):
        tor = self.addSwitch('tor0', role='tor')
        self.addLink(self.addHost('h1'), tor, cls=TCLink, delay='1ms')
        self.addLink(tor, self.addSwitch('s1'))
topos = {'two': Two, 'slow': Slow}
`

// TestMininetRefusals: impossible requests are refused, with what to do instead.
func TestMininetRefusals(t *testing.T) {
	const (
		ours = "--custom lightloom.py --topo hybrid,2,1"
		run  = " --switch loom --controller loom --test none"
		own  = "--custom lightloom.py,script --topo "
	)
	all := []struct{ name, args, want string }{
		{"delay", ours + ",delay=1ms" + run, "need netem, which this kernel lacks"},
		{"delay of TCLink", own + "slow" + run, "need netem, which this kernel lacks"},
		{"no controller", ours + " --switch loom --controller none --test none", "add --controller loom"},
		{"two OCSes", own + "two" + run, "ocs1 and ocs2 are optical switches: a fabric has at most one"},
		{"fibres without an OCS", ours + ",ocs=0,swap=0-1" + run, "swap=0-1: with ocs=0 there is no optical switch"},
		{"VOQs without an OCS", ours + ",ocs=0 --switch loom,voqbytes=200000 --controller loom --test none",
			"voqbytes=200000: the network has no optical switch"},
		{"misspelt parameter of the topology", ours + ",epss=3 --test none",
			"--topo hybrid has no parameter 'epss': it takes racks,"},
		{"rate of the topology", ours + ",eps=10G --test none", "eps=10G: write a rate as a number of Mb/s"},
		{"dark time of the topology", ours + ",dark=soon --test none", "dark=soon: write a time, such as dark=10ms"},
		{"dark time of the switch", ours + " --switch loom,dark=10 --controller loom --test none",
			"dark=10: write a time, such as dark=10ms"},
		{"misspelt parameter of the switch", ours + " --switch loom,voqbyte=1 --controller loom --test none",
			"did you mean voqbytes?"},
		{"misspelt parameter of the controller", ours + " --switch loom --controller loom,polcy=x --test none",
			"did you mean policy?"},
		{"swap", ours + ",swap=x" + run, "swap 'x': write two port numbers"},
		{"policy", ours + " --switch loom --controller loom,policy=nonsense --test none", "nonsense"},
	}
	l := newLaboratory(t, false)
	var lines [][2]string
	for _, tt := range all {
		lines = append(lines, [2]string{tt.name, tt.args})
	}
	text, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	out := l.mn("--version; "+file("lines.json", string(text))+file("refusals.py", refusals)+
		"$(sed -n '1s/^#!//p' $(command -v mn)) refusals.py", refusedTopos)
	netem := exec.Command("unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root",
		"netem", "delay", "1ms").Run() == nil
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.name, "delay") && netem {
				t.Skip("this kernel has netem")
			}
			_, said, _ := strings.Cut(out, "=== "+tt.name+"\n")
			said, _, _ = strings.Cut(said, "\n=== ")
			if !strings.Contains(said, tt.want) || strings.Contains(said, "Cleaning up") ||
				!strings.Contains(said, "left 0 processes, 0 directories") {
				t.Errorf("want %q and nothing left:\n%s", tt.want, said)
			}
		})
	}
}

// TestMininetKilled: when Mininet is killed, its switches and controllers end.
func TestMininetKilled(t *testing.T) {
	l := newLaboratory(t, false)
	for _, tt := range []struct{ name, words string }{
		{"hosts of Mininet", "--controller loom"},
		{"containers with agents", "--host container --controller loom,agents=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := l.sub(t).mn("--custom lightloom.py --topo hybrid,2,1 --switch loom "+tt.words+" --test none --post script",
				"pingall", "sh kill -9 $PPID")
			if !strings.Contains(out, "0% dropped (2/2 received)") || !strings.Contains(out, "status 137") ||
				!strings.Contains(out, "left 0 processes, 0 directories") {
				t.Error(out)
			}
		})
	}
}
