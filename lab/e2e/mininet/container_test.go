package mininet

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inContainers are commands for a network whose hosts are containers: what h0_0 is called and what it sees of this
// machine's files, and how many agents run in it, and in all.
var inContainers = []string{"py net.get('c0').replayed()", "h0_0 hostname", "h0_0 ls /run/lightloom.py",
	"h0_0 echo $(cat /proc/[0-9]*/comm | grep -c lightloom) inside",
	"h0_0 echo root holds $(ls /)", "h0_0 echo $(ls /run/lightloom-*)", "pingall"}

// checkContainers checks that so many jobs ran on agents inside so many hosts, each with only its own keys, and that
// nothing is left.
func checkContainers(t *testing.T, out string, hosts, jobs int) {
	t.Helper()
	m := regexp.MustCompile(fmt.Sprintf(`replayed: %d jobs, \d+ coflows, (\d+) bytes of which (\d+) received`, jobs)).
		FindStringSubmatch(out)
	if m == nil || m[1] != m[2] || m[1] == "0" {
		t.Errorf("want all bytes received once, got %q", m)
	}
	pings := hosts * (hosts - 1)
	for _, want := range []string{"\nh0_0", "cannot access '/run/lightloom.py'", "1 inside",
		"agent.sock data.key h0-0.election h0-0.pem lightloom", "root holds bin dev etc",
		fmt.Sprintf("0%% dropped (%d/%d received)", pings, pings), "status 0", "left 0 processes, 0 directories"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

const containerRun = "--switch loom --controller loom,jobs=6,speedup=2,agents=1 --test none --post script"

// dockerTwin is a host with the signature, the attributes and the ways of Containernet's Docker class (mininet/node.py
// of Containernet 3.1), on our container in Docker's place: its shell and what popen runs are started by the command
// docker.
const dockerTwin = `
import mininet.node
from lightloom import LoomContainer

class Docker(LoomContainer):
    def __init__(self, name, dimage=None, dcmd=None, build_params={}, **kwargs):
        self.dimage, self.dnameprefix, self.dcmd = dimage, 'mn', dcmd or '/bin/bash'
        self.dc, self.did = {}, 'id-' + name
        self.dcli = object()
        LoomContainer.__init__(self, name, **kwargs)
        self.dcinfo = {'State': {'Pid': self.pid}}

    def startShell(self, *args, **kwargs):
        LoomContainer.startShell(self)
        with open('/run/docker-mn.%s.pid' % self.name, 'w') as out:
            out.write(str(self.pid))

    def popen(self, *args, **kwargs):
        mncmd = ['docker', 'exec', '-t', '%s.%s' % (self.dnameprefix, self.name)]
        return mininet.node.Host.popen(self, *args, mncmd=mncmd, **kwargs)

mininet.node.Docker = Docker
`

// dockerCommand is docker exec as far as Mininet uses it: without -i there is no standard input.
const dockerCommand = `#!/bin/sh
echo "docker $*" >> /run/docker.log
[ "$1" = exec ] || exit 64
shift
in=/dev/null
while :; do
  case "$1" in
  -i) in=; shift ;;
  -t) shift ;;
  -it) in=; shift ;;
  *) break ;;
  esac
done
pid=$(cat /run/docker-$1.pid)
shift
if [ -n "$in" ]; then exec < $in; fi
exec nsenter -t $pid -n -m -p -u -i -r -w -- "$@"
`

// file is a word of a shell that writes a file.
func file(name, text string) string {
	return "echo " + base64.StdEncoding.EncodeToString([]byte(text)) + " | base64 -d > " + name + "; "
}

// TestMininetDocker runs jobs on hosts that are made from an image, like Containernet's.
func TestMininetDocker(t *testing.T) {
	l := newLaboratory(t, false)
	prepare := "--version; mkdir bin; " + file("bin/docker",
		dockerCommand) + file("docker_twin.py", dockerTwin) +
		"chmod +x bin/docker; export PATH=/run/bin:$PATH PYTHONPATH=/run PYTHONDONTWRITEBYTECODE=1; "
	out := l.mn(prepare+"mn --custom lightloom.py,docker_twin.py --topo "+
		"hybrid,2,2,nic=200,eps=50,ocs=200,image=ubuntu:jammy "+containerRun,
		append(inContainers, "py '%s of %s' % (net.get('h0_0').__class__.__name__, net.get('h0_0').dimage)",
			"sh cat docker.log")...)
	checkContainers(t, out, 4, 6)
	for _, want := range []string{"Docker of ubuntu:jammy", "docker exec -i mn.h0_0 /run/lightloom-",
		"docker exec -i mn.h1_1 /run/lightloom-"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
	plain := l.sub(t).mn("--custom lightloom.py --topo hybrid,2,1,image=ubuntu:jammy --switch loom --controller loom " +
		"--test none")
	if want := "hosts from images are Containernet's, and this is plain Mininet"; !strings.Contains(plain, want) {
		t.Errorf("want %q:\n%s", want, plain)
	}
}

// containernetEnv names a checkout of Containernet, for TestMininetContainernet.
const containernetEnv = "LIGHTLOOM_CONTAINERNET"

// TestMininetContainernet runs jobs with Containernet's own Mininet and Docker class. In place of an engine, a
// module docker answers as docker-py does and makes our containers.
func TestMininetContainernet(t *testing.T) {
	dir := os.Getenv(containernetEnv)
	if dir == "" {
		t.Skip("needs a checkout of Containernet: set " + containernetEnv + " to its directory")
	}
	l := newLaboratory(t, false)
	if _, err := os.Stat(filepath.Join(dir, "mininet", "node.py")); err != nil {
		t.Fatalf("%s: %v", containernetEnv, err)
	}
	prepare := "--version; mkdir bin; " + file("bin/docker", dockerCommand) + file("docker.py", dockerModule) +
		file("iptc.py", "# firewalls, which are not used\n") +
		"chmod +x bin/docker; export PATH=/run/bin:$PATH PYTHONPATH=/run:" + dir + " PYTHONDONTWRITEBYTECODE=1; "
	out := l.mn(prepare+"mn --custom lightloom.py --topo hybrid,2,2,nic=200,eps=50,ocs=200,image=ubuntu:jammy "+
		containerRun,
		append(inContainers, "py '%s of %s' % (net.get('h0_0').__class__.__module__, net.get('h0_0').dimage)",
			"sh cat docker.log")...)
	checkContainers(t, out, 4, 6)
	for _, want := range []string{"mininet.node of ubuntu:jammy", "docker exec -it mn.h0_0 env PS1=",
		"docker exec -i mn.h0_0 /run/lightloom-"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
}

// dockerModule is the part of docker-py that Containernet's Docker class calls, over containers made as LoomContainer's
// are.
const dockerModule = `
import ast, subprocess, types

source = open('/run/lightloom.py').read()
root = next(ast.literal_eval(n.value) for n in ast.parse(source).body
            if isinstance(n, ast.Assign) and getattr(n.targets[0], 'id', '') == 'LOOM_ROOT')

class APIError(Exception):
    pass

errors = types.SimpleNamespace(APIError=APIError)

class Client:
    def __init__(self):
        self.running, self.api = {}, self

    def images(self):
        return [{'RepoTags': ['ubuntu:jammy'], 'Id': 'image'}]

    def inspect_image(self, name):
        return {'Config': {'Cmd': ['/bin/bash'], 'Entrypoint': None}}

    def create_host_config(self, **kwargs):
        assert 'net_admin' in kwargs['cap_add']
        return kwargs

    def create_container(self, name, image, command, hostname, **kwargs):
        return {'Id': name, 'hostname': hostname, 'Warnings': None}

    def start(self, dc):
        init = subprocess.Popen(['unshare', '--net', '--mount', '--pid', '--uts', '--ipc', '--fork', '--kill-child',
                                 'sh', '-c', root, 'sh', dc['hostname']], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pid = int(init.stdout.readline())
        self.running[dc['Id']] = (init, pid)
        with open('/run/docker-%s.pid' % dc['Id'], 'w') as out:
            out.write(str(pid))

    def inspect_container(self, dc):
        return {'Id': dc['Id'], 'State': {'Pid': self.running[dc['Id']][1]}}

    def update_container(self, dc, **kwargs):
        pass

    def containers(self, filters=None, all=False):
        return [{'Id': i} for i in self.running if not filters or filters['id'] == i]

    def remove_container(self, dc, force=False, v=False):
        init, _pid = self.running.pop(dc['Id'])
        init.stdin.close()
        init.wait()
        init.stdout.close()

the = Client()

def from_env():
    return the
`
