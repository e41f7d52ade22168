"""Lightloom's switches and controller for Mininet 2.3.

    mn --custom lightloom.py --topo hybrid,4,2 --switch loom --controller loom

Every switch is `lightloom switch run` in a network namespace of its own: the device model, a dataplane in the kernel,
and a gNMI target behind a Unix socket. The controller is `lightloom controller run`: replicas that program the switches
over gNMI and TLS, and an agent that runs jobs on Mininet's hosts. The program is found on the PATH, or named by the
variable LIGHTLOOM.

Hosts get addresses by their rack: host i of rack r is 10.(r/256).(r%256).(i+1), and all have one hardware address,
because switches forward by address alone. A topology of one's own works when it is a leaf-spine or a hybrid one: racks
of equally many hosts, every ToR cabled to every packet switch, and at most one optical switch, cabled to every ToR.
"""

import atexit
import difflib
import functools
import inspect
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
from time import monotonic

from mininet.link import TCIntf, TCLink
from mininet.log import info, warn
from mininet.node import Controller, Host, Node, Switch
from mininet.topo import LinearTopo, MinimalTopo, SingleSwitchTopo, SingleSwitchReversedTopo, Topo
from mininet.topolib import TorusTopo, TreeTopo
from mininet.util import buildTopo, moveIntf, quietRun
import mininet.net

# Topologies that mn knows by itself.
TOPOS = {'minimal': MinimalTopo, 'linear': LinearTopo, 'reversed': SingleSwitchReversedTopo, 'single': SingleSwitchTopo,
         'tree': TreeTopo, 'torus': TorusTopo}

# The hardware address of every host and of a gateway that does not exist. The route leads everywhere.
LOOM_MAC = '02:00:00:00:00:01'
LOOM_GATEWAY = '10.255.255.254'
LOOM_NET = '10.0.0.0/8'

# What hosts have for their TCP in `lightloom up` as well: the line rate or the policy's paces, not the RTT of the path
# that a host flow took before its circuit, and what a connection has learnt is not for the next one.
LOOM_TCP = ['net.ipv4.' + x for x in ('tcp_tso_rtt_log=0', 'tcp_no_metrics_save=1', 'tcp_slow_start_after_idle=0',
                                      'tcp_pacing_ca_ratio=1000', 'tcp_pacing_ss_ratio=1000')]

# Seconds that a process may take to say that it is ready, and to end.
LOOM_START = 60
LOOM_STOP = 10


class LoomError(Exception):
    "What cannot be, with what to do instead."


def loom_or_exit(do):
    """Make a function end the process with one line if it cannot do what was asked for. Mininet answers exceptions with a
    clean-up of the whole machine, and lets SystemExit pass; what is ours ends with this process."""
    @functools.wraps(do)
    def done(*args, **params):
        try:
            return do(*args, **params)
        except LoomError as e:
            sys.exit('lightloom: %s' % e)
    return done


def loom_topo(name, make):
    "Make a topology of the command line, or end the process with what is wrong with its parameters."
    takes = [k for k in inspect.signature(make.build).parameters if k != 'self']

    def made(*args, **params):
        for key in params:
            if key not in takes:
                sys.exit('lightloom: --topo %s has no parameter %r: it takes %s' % (name, key, ', '.join(takes)))
        try:
            return make(*args, **params)
        except LoomError as e:
            sys.exit('lightloom: %s' % e)
        except (TypeError, ValueError) as e:
            sys.exit('lightloom: --topo %s: %s; it takes %s' % (name, e, ', '.join(takes)))
    return made


def loom_known(what, params, ours):
    "Refuse a parameter that is nearly one of ours: Mininet hands on all that it is given, and would hand on a typo, too."
    for key in params:
        near = difflib.get_close_matches(key, ours, 1, 0.75)
        if near and key not in ours:
            sys.exit('lightloom: %s has no parameter %r: did you mean %s? It takes %s' % (what, key, near[0], ', '.join(ours)))


def loom_time(what, text):
    "Refuse what is no time as lightloom takes it."
    if not re.fullmatch(r'((\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h))+|0', str(text)):
        raise LoomError('%s=%s: write a time, such as %s=10ms' % (what, text, what.split()[-1]))


def loom_program():
    "Return the path of lightloom."
    path = os.environ.get('LIGHTLOOM') or shutil.which('lightloom')
    if not path or not os.access(path, os.X_OK):
        raise LoomError('lightloom is not to be found: put it on the PATH, or set LIGHTLOOM to its path '
                        '(sudo keeps neither: sudo env LIGHTLOOM=$(which lightloom) mn ...)')
    return path


def loom_order(name):
    "Sort key of a name: s2 before s10."
    return [int(part) if part.isdigit() else part for part in re.split(r'(\d+)', name)]


class LoomProcess:
    """A process of lightloom in a node's namespace. It lives as long as its standard input, so it ends with Mininet,
    however that ends."""

    def __init__(self, node, args, program=None):
        self.name, self.log, self.text = node.name, tempfile.TemporaryFile(), b''
        args = [program or loom_program()] + args
        self.popen = loom_popen(node, args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def alive(self):
        "Is it running?"
        return self.popen.poll() is None

    def wait_for(self, word, within=LOOM_START):
        "Wait until it has printed a line that contains word, for at most within seconds."
        deadline = monotonic() + within
        out = self.popen.stdout.fileno()
        while word.encode() not in self.text:
            left = deadline - monotonic()
            if left <= 0:
                raise LoomError('%s has not said "%s" within %d s%s' % (self.name, word, within, self.last_words()))
            if not select.select([out], [], [], left)[0]:
                continue
            chunk = os.read(out, 4096)
            if not chunk:
                raise LoomError('%s has ended%s' % (self.name, self.last_words()))
            self.text += chunk

    def last_words(self):
        "What the process has complained of."
        said = os.pread(self.log.fileno(), 1 << 16, 0)  # the process goes on writing where it was
        lines = said.decode(errors='replace').strip().splitlines()
        return ': ' + ' / '.join(lines[-3:]) if lines else ''

    def stop(self):
        "End it, gently at first."
        self.popen.stdin.close()
        if self.alive():
            self.popen.terminate()
        try:
            self.popen.wait(LOOM_STOP)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self.popen.stdout.close()
        self.log.close()


def loom_popen(node, args, **kwargs):
    """Run a program in a node, with its standard input. Containernet's nodes run what they are asked to without one
    (docker exec -t), so that a program would neither hear nor see Mininet's end: they are entered as they do it, but with -i."""
    if hasattr(node, 'dcli'):
        return subprocess.Popen(['docker', 'exec', '-i', '%s.%s' % (node.dnameprefix, node.name)] + args, **kwargs)
    return node.popen(args, **kwargs)


def loom_contained(node):
    "Has a node a root file system of its own, as containers have?"
    try:
        return not os.path.samefile('/proc/%d/root' % node.pid, '/')
    except (OSError, TypeError) as e:
        raise LoomError('%s: its process is not to be found: %s' % (node.name, e))


def loom_in_net(node, *words):
    "Run a command of this machine in a node's network: a container may lack the program, or the right."
    if loom_contained(node):
        quietRun(['nsenter', '-t', str(node.pid), '-n'] + [str(w) for w in words])
    else:
        node.cmd(*words)


def loom_in_root(node, work):
    """Do something in a container's root file system, in a process of its own whose root that is, so that no link in it
    leads out; return the text that comes of it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chroot('/proc/%d/root' % node.pid)
            os.chdir('/')
            said = '+' + work()
        except Exception as e:  # pylint: disable=broad-except
            said = '-%s' % e
        os.write(into, said.encode())
        os._exit(0)  # pylint: disable=protected-access
    os.close(into)
    with os.fdopen(out, 'rb') as stream:
        said = stream.read().decode(errors='replace')
    os.waitpid(child, 0)
    if said[:1] != '+':
        raise LoomError('%s: its root file system: %s' % (node.name, said[1:] or 'nothing could be done in it'))
    return said[1:]


def loom_put(node, files):
    "Write files (bytes and mode, by name) to a new directory in a container; return its path there, without links."
    def work():
        error = 'there is no directory'
        for base in ('/run', '/tmp', '/var/tmp'):
            try:
                made = os.path.realpath(tempfile.mkdtemp(prefix='lightloom-', dir=base))
            except OSError as e:
                error = e
                continue
            for name, (data, mode) in files.items():
                with open(os.open(os.path.join(made, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), 'wb') as to:
                    to.write(data)
            return made
        raise LoomError('/run, /tmp and /var/tmp cannot be written to: %s' % error)
    return loom_in_root(node, work)


def loom_read(path):
    "Return the bytes of a file."
    with open(path, 'rb') as source:
        return source.read()


# The root file system of a LoomContainer: a tmpfs with the programs of this machine, which cannot be written to, and /proc,
# /dev, /etc, /run and /tmp of its own. It says its process id out here, and lives as long as its standard input.
LOOM_ROOT = r"""
set -e
read pid rest < /proc/self/stat
mount -t tmpfs -o mode=755 tmpfs /tmp
cd /tmp
mkdir usr proc sys dev dev/pts etc run tmp var var/tmp root old
chmod 1777 tmp var/tmp
mount --bind /usr usr
mount -o remount,bind,ro usr
for d in bin sbin lib lib32 lib64; do
  if [ -L /$d ]; then ln -s usr/$d $d; elif [ -d /$d ]; then mkdir $d; mount --bind /$d $d; mount -o remount,bind,ro $d; fi
done
for f in passwd group ld.so.cache alternatives protocols services; do [ ! -e /etc/$f ] || cp -a /etc/$f etc/; done
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --bind /dev/pts dev/pts
for f in null zero random urandom tty; do touch dev/$f; mount --bind /dev/$f dev/$f; done
ln -s pts/ptmx dev/ptmx
echo "$1" > /proc/sys/kernel/hostname
pivot_root . old
cd /
umount -l old
rmdir old
echo $pid
exec > /dev/null 2>&1
read end || exit 0
"""


class LoomContainer(Host):
    """A host that is a container of its own: with a root file system, processes and a name that are not this machine's, as
    Containernet's are, but without Docker. mn --host container takes it."""

    def __init__(self, name, **params):
        self.init = None
        Host.__init__(self, name, **params)

    def enter(self):
        "The words that run a command in the container."
        return ['nsenter', '-t', str(self.pid), '-n', '-m', '-p', '-u', '-i', '-r', '-w', '--']

    def startShell(self, mnopts=None):
        "Make the container, and run a shell in it as Mininet does in its nodes."
        log = tempfile.TemporaryFile()
        self.init = subprocess.Popen(['unshare', '--net', '--mount', '--pid', '--uts', '--ipc', '--fork', '--kill-child', 'sh', '-c',
                                      LOOM_ROOT, 'sh', self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        line = self.init.stdout.readline().decode().strip()
        if not line:
            self.init.wait()
            raise LoomError('%s: no container could be made: %s' % (self.name, os.pread(log.fileno(), 4096, 0).decode(errors='replace').strip()))
        log.close()
        self.pid = int(line)
        self.master, self.slave = pty.openpty()
        self.shell = self._popen(self.enter() + ['env', 'PS1=' + chr(127), 'bash', '--norc', '--noediting', '-is', 'mininet:' + self.name],
                                 stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True)
        self.stdin = self.stdout = os.fdopen(self.master, 'r')
        self.pollOut = select.poll()
        self.pollOut.register(self.stdout)
        self.outToNode[self.stdout.fileno()] = self.inToNode[self.stdin.fileno()] = self
        self.execed, self.lastCmd, self.lastPid, self.readbuf = False, None, None, ''
        self.waiting = True
        self.waitOutput()
        self.cmd('unset HISTFILE; stty -echo; set +m')

    def popen(self, *args, **kwargs):
        "Run a program in the container."
        kwargs.setdefault('mncmd', self.enter())
        return Host.popen(self, *args, **kwargs)

    def terminate(self):
        "End the container: with its first process all others end."
        if self.init:
            self.init.stdin.close()
            self.init.wait()
            self.init.stdout.close()
            self.init, self.privateDirs = None, []
        Host.terminate(self)


class LoomIntf(TCIntf):
    """An interface with a bandwidth; a delay only where the kernel has netem. It sends by eight strict priorities, the upper
    three bits of TOS, and keeps as few packets as lightloom's own namespaces do: acknowledgements of a circuit come back
    over packets, and behind TC's thousand packets of others they are late by a second."""

    @loom_or_exit
    def config(self, **params):  # pylint: disable=arguments-differ
        if any(params.get(p) for p in ('delay', 'jitter', 'loss', 'max_queue_size')):
            loom_need_netem(self)
        result = TCIntf.config(self, **params)
        if params.get('bw') and not any(params.get(p) for p in (
                'delay', 'jitter', 'loss', 'max_queue_size', 'use_hfsc', 'use_tbf', 'enable_ecn', 'enable_red')):
            missing = self.prioritize(params['bw'])
            if missing:
                warn('*** %s: one long queue and no priorities, circuits will be slow: %s\n' % (self, missing))
                TCIntf.config(self, **params)  # what has been divided half is made anew
        return result

    def prioritize(self, bw):
        "Divide HTB's one class into eight, none of which starves; return what this kernel's tc says against it, or None."
        queue = 1000000 if isinstance(self.node, Host) else max(64000, int(bw * 1e6 / 8 * 0.005) if bw > 100 else 0)
        lines = []
        for p in range(8):
            own = 'rate %fMbit ceil %fMbit burst 3200 cburst 15k prio %d quantum 1600' % (min(1, bw / 16.0), bw, 7 - p)
            lines += ['class add dev %s parent 5:1 classid 5:%x htb %s' % (self, 0x10 + p, own),
                      'qdisc add dev %s parent 5:%x handle %x: bfifo limit %d' % (self, 0x10 + p, 0x100 + p, queue)]
        for p in range(1, 8):
            lines += ['filter add dev %s parent 5: protocol ip prio 1 u32 match ip tos 0x%02x 0xe0 flowid 5:%x' % (
                self, p << 5, 0x10 + p)]
        lines += ['filter add dev %s parent 5: protocol all prio 9 u32 match u32 0 0 flowid 5:10' % self]
        said = self.cmd("printf '%s' | tc -batch -" % ''.join(x + '\\n' for x in lines)).splitlines()
        return next((x for x in said if x.strip() and 'quantum of class' not in x), None)

    def tc(self, cmd, tc='tc'):
        "Run tc; that HTB lets a class send many bytes in a turn is no error where each link has one class."
        said = TCIntf.tc(self, cmd, tc)
        return '' if 'quantum of class' in said else said

    def ifconfig(self, *args):
        result = TCIntf.ifconfig(self, *args)
        if args == ('up',):
            loom_route(self)  # the kernel has forgotten it when the interface went down
        return result


def loom_need_netem(intf):
    "Refuse a delay that tc would make a mess of: without netem it leaves the interface half configured."
    said = intf.cmd('tc qdisc add dev', intf, 'root handle 7: netem delay 1ms').strip()
    if said:
        raise LoomError('%s: delay, jitter, loss and max_queue_size need netem, which this kernel lacks '
                        '(leave them away, or try: modprobe sch_netem): %s' % (intf, said.splitlines()[0]))
    intf.cmd('tc qdisc del dev', intf, 'root')


def loom_route(intf):
    "Give a host its route and its neighbour, if it is one that has its address from us."
    if getattr(intf, 'loom', False):
        loom_in_net(intf.node, 'ip', 'route', 'replace', LOOM_NET, 'via', LOOM_GATEWAY, 'dev', intf, 'onlink')
        loom_in_net(intf.node, 'ip', 'neigh', 'replace', LOOM_GATEWAY, 'lladdr', LOOM_MAC, 'dev', intf, 'nud', 'permanent')


class LoomLink(TCLink):
    "A cable with a bandwidth."

    def __init__(self, *args, **kwargs):
        kwargs.setdefault('intf', LoomIntf)
        kwargs.setdefault('cls1', LoomIntf)
        kwargs.setdefault('cls2', LoomIntf)
        TCLink.__init__(self, *args, **kwargs)

    @classmethod
    def makeIntfPair(cls, intfname1, intfname2, addr1=None, addr2=None, node1=None, node2=None, deleteIntfs=True):  # pylint: disable=too-many-positional-arguments
        """Make a cable between containers outside: Mininet makes it inside the first, whose ip knows nothing of the process
        by whose id the other is named."""
        if not (node1 and node2 and (loom_contained(node1) or loom_contained(node2))):
            return TCLink.makeIntfPair(intfname1, intfname2, addr1, addr2, node1, node2, deleteIntfs)
        said = quietRun('ip link add name %s%s type veth peer name %s%s' % (
            intfname1, ' address ' + addr1 if addr1 else '', intfname2, ' address ' + addr2 if addr2 else ''))
        if said:
            raise LoomError('cable from %s to %s: %s' % (intfname1, intfname2, said.strip()))
        moveIntf(intfname1, node1)
        moveIntf(intfname2, node2)
        return None


class LoomFabric:
    "What a network of Mininet is to the controller: racks of hosts behind ToRs, packet switches, an optical switch."

    def __init__(self, switches):
        self.dir, self.inside = None, {}
        byname = sorted(switches, key=lambda s: loom_order(s.name))
        self.tors = [s for s in byname if self.role(s) == 'tor']
        self.spines = [s for s in byname if self.role(s) == 'eps']
        self.ocses = [s for s in byname if self.role(s) == 'ocs']
        if len(self.ocses) > 1:
            raise LoomError('%s are optical switches: a fabric has at most one'
                            % ' and '.join(s.name for s in self.ocses))
        if not self.tors or not self.spines:
            raise LoomError('the network has %d ToRs and %d other packet switches: it needs one of each at least'
                            % (len(self.tors), len(self.spines)))
        self.ocs = self.ocses[0] if self.ocses else None
        self.hosts = [self.behind(t, lambda n: not isinstance(n, Switch)) for t in self.tors]
        if len(set(len(h) for h in self.hosts)) > 1:
            raise LoomError('racks have %s hosts: all must have as many' % ', '.join(str(len(h)) for h in self.hosts))

    @staticmethod
    def role(switch):
        "A switch's role: as said, or by what is cabled to it."
        if switch.role:
            return switch.role
        if switch.name.startswith('ocs'):
            return 'ocs'
        hosts = LoomFabric.behind(switch, lambda n: not isinstance(n, Switch))
        return 'tor' if hosts else 'eps'

    @staticmethod
    def behind(switch, wanted):
        "The interfaces of a switch whose other end is a node that is wanted, by port."
        intfs = [i for _port, i in sorted(switch.intfs.items()) if i.link]
        return [i for i in intfs if wanted(LoomFabric.peer(i).node)]

    @staticmethod
    def peer(intf):
        "The other end of a cable."
        return intf.link.intf2 if intf.link.intf1 is intf else intf.link.intf1

    def towards(self, switch, others):
        "The interfaces of a switch to each of the others, exactly one each."
        out = []
        for other in others:
            found = self.behind(switch, lambda n, o=other: n is o)
            if len(found) != 1:
                raise LoomError('%s has %d cables to %s: it must have one' % (switch.name, len(found), other.name))
            out.append(found[0])
        return out

    def uplinks(self, tor):
        "The interfaces of a ToR to packet switches, then to the optical one."
        return self.towards(tor, self.spines + self.ocses)

    def ports(self, switch):
        "All interfaces of a switch in the order of the controller's port numbers."
        if switch in self.tors:
            ports = self.hosts[self.tors.index(switch)] + self.uplinks(switch)
        else:
            ports = self.towards(switch, self.tors)
        extra = [i.name for _port, i in sorted(switch.intfs.items()) if i.link and i not in ports]
        if extra:
            raise LoomError('%s: the cable at %s is none of a leaf-spine or hybrid fabric' % (switch.name, extra[0]))
        return ports

    def name(self, switch):
        "What the controller calls a switch."
        if switch in self.tors:
            return 'tor%d' % self.tors.index(switch)
        return 'ocs' if switch is self.ocs else 'spine%d' % self.spines.index(switch)

    @staticmethod
    def rate(intfs):
        "The rate of the slowest of some interfaces, as a fabric spec has it; unlimited ones count as 10 Gb/s."
        bw = min((i.params.get('bw') or 10000) for i in intfs)
        return '%dMbps' % bw if bw == int(bw) else '%dkbps' % (bw * 1000)

    def spec(self):
        "The fabric as lightloom writes it."
        up = [self.uplinks(t) for t in self.tors]
        n = len(self.spines)
        words = ['racks=%d' % len(self.tors), 'hosts=%d' % len(self.hosts[0]), 'spines=%d' % n,
                 'nic=' + self.rate([i for rack in self.hosts for i in rack]),
                 'eps=' + self.rate([i for u in up for i in u[:n]])]
        if self.ocs:
            words += ['ocs=' + self.rate([u[n] for u in up]), 'dark=' + self.ocs.dark]
        return ('hybrid:' if self.ocs else 'leafspine:') + ','.join(words)

    def switches(self):
        "Every switch."
        return self.tors + self.spines + self.ocses

    def address(self, switch):
        "Where a switch's gNMI target listens."
        return 'unix:%s/%s.sock' % (self.dir, self.name(switch))

    def named_hosts(self):
        "Every host as the controller calls it, with the interface of its ToR."
        return [('h%d-%d' % (rack, i), intf) for rack, intfs in enumerate(self.hosts) for i, intf in enumerate(intfs)]

    def agent_address(self, name):
        "Where a host's own agent is reached: in a container the same socket has another path."
        if name in self.inside:
            node, there = self.inside[name]
            return 'unix:/proc/%d/root%s/agent.sock' % (node.pid, there)
        return 'unix:%s/agent-%s.sock' % (self.dir, name)

    def move_in(self):
        "Give every host that is a container the program, its own keys, and no other's."
        for name, intf in self.named_hosts():
            node = self.peer(intf).node
            if loom_contained(node):
                files = {f: (loom_read(os.path.join(self.dir, f)), 0o600) for f in (name + '.pem', 'data.key')}
                files['lightloom'] = (loom_read(loom_program()), 0o700)
                self.inside[name] = (node, loom_put(node, files))

    def run_agent(self, name, intf):
        "Run a host's own agent."
        node = self.peer(intf).node
        args = ['agent', 'run', '--with-stdin', '--fabric', self.spec(), '--host', name, '--lldp', self.peer(intf).name]
        if name not in self.inside:
            return LoomProcess(node, args + ['--tls-dir', self.dir, '--listen', self.agent_address(name)])
        there = self.inside[name][1]
        return LoomProcess(node, args + ['--tls-dir', there, '--listen', 'unix:%s/agent.sock' % there], there + '/lightloom')

    def move_out(self):
        "Take away from containers what they were given."
        for node, there in self.inside.values():
            try:
                loom_in_root(node, lambda there=there: str(shutil.rmtree(there)))
            except LoomError:
                pass  # it has ended, and its root with it
        self.inside = {}

    def prepare(self, replicas, agents=0):
        "Give the hosts their addresses, and make the directory with keys and the list of devices."
        for rack, intfs in enumerate(self.hosts):
            for i, intf in enumerate(intfs):
                self.configure(self.peer(intf), rack, i)
        for switch in self.switches():
            self.ports(switch)  # refuses a fabric that is none
        self.dir = tempfile.mkdtemp(prefix='lightloom-mn-', dir='/run' if os.access('/run', os.W_OK) else None)
        atexit.register(shutil.rmtree, self.dir, True)
        subprocess.run([loom_program(), 'controller', 'keys', self.dir, '--fabric', self.spec(), '--replicas',
                        str(replicas)] + (['--agents'] if agents else []), check=True)
        if agents:
            self.move_in()
        with open(self.devices(), 'w') as out:
            out.write('devices:\n')
            for switch in self.switches():
                out.write('  %s: "%s"\n' % (self.name(switch), self.address(switch)))
            out.write('agents:\n' if agents else 'hosts:\n')
            for name, intf in self.named_hosts():
                out.write('  %s: "%s"\n' % (name, self.agent_address(name) if agents else '/proc/%d/ns/net' % self.peer(intf).node.pid))

    def devices(self):
        "The file that says where everything is."
        return os.path.join(self.dir, 'devices.yaml')

    @staticmethod
    def configure(intf, rack, i):
        "Give a host its address, its route and its neighbour."
        host = intf.node
        loom_in_net(host, 'sysctl', '-eqw', 'net.ipv6.conf.all.disable_ipv6=1', *LOOM_TCP)
        host.setMAC(LOOM_MAC, intf)
        host.setIP('10.%d.%d.%d' % (rack >> 8, rack & 255, i + 1), 32, intf)
        intf.loom = True
        loom_route(intf)


def loom_swap(name, text):
    "Read which two ports are swapped."
    if text is None:
        return None
    both = re.fullmatch(r'(\d+)-(\d+)', str(text))
    if not both:
        raise LoomError('switch %s: swap %r: write two port numbers, such as 0-2' % (name, text))
    return int(both.group(1)), int(both.group(2))


def loom_swapped(name, ports, swap):
    "Exchange two ports of a list."
    if max(swap) >= len(ports):
        raise LoomError('switch %s: swap %d-%d: its ports are 0 to %d' % (name, swap[0], swap[1], len(ports) - 1))
    ports = list(ports)
    ports[swap[0]], ports[swap[1]] = ports[swap[1]], ports[swap[0]]
    return ports


class LoomSwitch(Switch):
    """A switch of lightloom.
       role: tor, eps or ocs; None: by its name (ocs...) and its cables
       dark: of an optical switch, how long a moved port is dark
       swap: of an optical switch, two ports whose fibres are in each other's place, such as 0-2, for an audit to find
       dataplane: auto, ebpf or mirred
       voqbytes: of a ToR, bytes of a queue for each rack where packets wait while the fibre is dark; 0: none"""

    @loom_or_exit
    def __init__(self, name, role=None, dark='10ms', dataplane='auto', swap=None, voqbytes=0, **params):
        loom_known('--switch loom', params, ['role', 'dark', 'dataplane', 'swap', 'voqbytes'])
        if role not in (None, 'tor', 'eps', 'ocs'):
            raise LoomError('switch %s: role %r: take tor, eps or ocs' % (name, role))
        if not re.search(r'\d', name):
            params.setdefault('dpid', '%x' % (1 << 32 | sum(name.encode())))
        params['inNamespace'] = True
        self.role, self.dark, self.dataplane, self.process, self.fabric = role, str(dark), dataplane, None, None
        loom_time('switch %s: dark' % name, self.dark)
        self.swap, self.voqbytes = loom_swap(name, swap), int(voqbytes)
        Switch.__init__(self, name, **params)

    @loom_or_exit
    def start(self, controllers):
        "Run the switch, and wait until it listens."
        fabric = LoomController.fabric_of(controllers)
        fabric.controller.need_alive()
        self.fabric = fabric
        ports = fabric.ports(self)
        for intf in ports:
            if not isinstance(intf, LoomIntf) and any(intf.params.get(p) for p in ('delay', 'jitter', 'loss')):
                loom_need_netem(intf)
        if self.swap:
            ports = loom_swapped(self.name, ports, self.swap)
        args = ['switch', 'run', '--name', fabric.name(self), '--role', fabric.role(self), '--with-stdin',
                '--ports', ','.join(i.name for i in ports), '--racks', str(len(fabric.tors)),
                '--listen', fabric.address(self), '--tls-dir', fabric.dir, '--dataplane', self.dataplane]
        if self in fabric.tors:
            rack = fabric.tors.index(self)
            args += ['--rack', str(rack), '--hosts', str(len(fabric.hosts[rack]))]
            if fabric.ocs:
                args += ['--fibre', ports[-1].name, '--voq-bytes', str(self.voqbytes)]
            elif self.voqbytes:
                raise LoomError('%s: voqbytes=%d: the network has no optical switch, for whose light packets could wait: leave it away'
                                % (self.name, self.voqbytes))
        elif self is fabric.ocs:
            args += ['--dark', self.dark]
        self.process = LoomProcess(self, args)
        self.process.wait_for('listens at')

    @classmethod
    @loom_or_exit
    def batchStartup(cls, switches):
        "Wait until the controller has programmed all switches."
        for switch in switches[:1]:
            switch.fabric.controller.wait_ready()
        return switches

    def connected(self):
        "Is the switch running?"
        if self.process and not self.process.alive():
            warn('*** %s has ended%s\n' % (self.name, self.process.last_words()))
        return bool(self.process) and self.process.alive()

    def stop(self, deleteIntfs=True):
        "End the switch."
        if self.process:
            self.process.stop()
            self.process = None
        Switch.stop(self, deleteIntfs)


class LoomToR(LoomSwitch):
    "A top-of-rack switch."

    def __init__(self, name, **params):
        params['role'] = 'tor'
        LoomSwitch.__init__(self, name, **params)


class LoomEPS(LoomSwitch):
    "A packet switch above the ToRs."

    def __init__(self, name, **params):
        params['role'] = 'eps'
        LoomSwitch.__init__(self, name, **params)


class LoomOCS(LoomSwitch):
    "The optical circuit switch."

    def __init__(self, name, **params):
        params['role'] = 'ocs'
        LoomSwitch.__init__(self, name, **params)


class LoomController(Controller):
    """Replicas of lightloom's controller.
       replicas: 1, 3, 5 or 7
       policy: of lightloom, such as crosslayer+sunflow
       jobs: how many jobs the hosts run, from the start on; replayed() waits for their end
       trace: a coflow-benchmark file that jobs are taken from; None: synthetic ones, by seed
       workload: in place of a trace, what lightloom replay --workload takes: a file of jobs, or a kind such as dag
       report: directory that the report of the jobs goes to, of the same form as that of lightloom replay
       scale, speedup: divide bytes; divide arrivals, sizes and compute times
       agents: 1 runs an agent in every host, as on machines of their own; 0 one for all of them"""

    def __init__(self, name, replicas=3, policy='crosslayer+sunflow', seed=1, jobs=0, trace=None, report=None, scale=1, speedup=1,
                 agents=0, workload=None, **params):
        loom_known('--controller loom', params, ['replicas', 'policy', 'seed', 'jobs', 'trace', 'report', 'scale', 'speedup', 'agents', 'workload'])
        self.workload, self.agents, self.agent_processes = workload, int(agents), []
        self.jobs, self.trace, self.report, self.scale, self.speedup = int(jobs), trace, report, scale, speedup
        self.replicas, self.policy, self.seed = int(replicas), str(policy), int(seed)
        self.process, self.fabric = None, None
        Controller.__init__(self, name, **params)

    def checkListening(self):
        "Nothing listens at a port that could be taken: replicas draw theirs."

    @staticmethod
    def fabric_of(controllers):
        "The fabric of the first of ours."
        for c in controllers:
            if isinstance(c, LoomController) and c.fabric:
                return c.fabric
        raise LoomError('switches of lightloom need its controller: add --controller loom')

    @loom_or_exit
    def start(self):
        "Run the replicas. They wait for the switches."
        switches = [n for n in loom_nodes(self) if isinstance(n, LoomSwitch)]
        if not switches:
            raise LoomError('there is no switch of lightloom to control: add --switch loom')
        self.fabric = LoomFabric(switches)
        self.fabric.controller = self
        self.fabric.prepare(self.replicas, self.agents)
        if self.agents:
            self.start_agents()
        args = ['controller', 'run', '--fabric', self.fabric.spec(), '--devices', self.fabric.devices(),
                '--tls-dir', self.fabric.dir, '--replicas', str(self.replicas), '--policy', self.policy,
                '--seed', str(self.seed), '--with-stdin', '--ephemeral']
        args += ['--jobs', str(self.jobs)] + (['--trace', str(self.trace)] if self.trace else [])
        args += ['--workload', str(self.workload)] if self.workload else []
        args += ['--scale', str(self.scale), '--speedup', str(self.speedup), '--on', 'mininet']
        args += ['--report-dir', str(self.report)] if self.report else []
        swapped = self.fabric.ocs and self.fabric.ocs.swap
        args += ['--note', 'fibres %d and %d are swapped' % swapped] if swapped else []
        self.process = LoomProcess(self, args)
        self.process.wait_for('programming')

    def start_agents(self):
        "Run an agent in every host."
        for name, intf in self.fabric.named_hosts():
            self.agent_processes.append(self.fabric.run_agent(name, intf))
        for process in self.agent_processes:
            process.wait_for('listens at')

    def need_alive(self):
        "Refuse to go on without the replicas."
        if not self.process.alive():
            raise LoomError('%s has ended%s' % (self.name, self.process.last_words()))

    def wait_ready(self):
        "Wait until every switch is programmed. The controller counts, in its own line, only those that started within seconds."
        for switch in self.fabric.tors + self.fabric.spines + self.fabric.ocses:
            self.process.wait_for('switch %s is ready\n' % self.fabric.name(switch))
        info('(%s) ' % self.fabric.spec())

    def replayed(self, within=600):
        "Wait for the end of the jobs, and return their results. In the command line: py net.get('c0').replayed()"
        if not self.jobs:
            raise LoomError('no jobs were asked for: write --controller loom,jobs=20')
        self.process.wait_for('replayed: ', within)
        self.process.wait_for(' circuits', within)
        return [line for line in self.process.text.decode().splitlines() if line.startswith('replayed')][0]

    def audit(self, *words):
        """Find out which fibre of the optical switch is plugged in where. In the command line: py net.get('c0').audit()
           words: more for lightloom audit cabling, such as '--interrupt' where circuits stand"""
        said = subprocess.run([loom_program(), 'audit', 'cabling', '--fabric', self.fabric.spec(), '--devices', self.fabric.devices(),
                               '--tls-dir', self.fabric.dir] + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return said.stdout.decode()

    def stop(self, *args, **kwargs):
        "End the replicas."
        for process in self.agent_processes + ([self.process] if self.process else []):
            process.stop()
        if self.fabric:
            self.fabric.move_out()
        self.process, self.agent_processes = None, []
        Node.stop(self, *args, **kwargs)


def loom_wait_listening(client, server, port=80):
    """Wait until an iperf server answers. Mininet 2.3 waits with telnet, and then for a report of that connection by the
    server, which iperf 2.1 no longer gives: Mininet's iperf would hang for ever (its issue 1060). A connection of
    iperf's own is reported by all versions."""
    deadline = monotonic() + LOOM_START
    while '/sec' not in client.cmd('iperf -p', port, '-n 1K -c', server):
        if monotonic() > deadline:
            return False
    return True


def loom_nodes(controller):
    "Every node that Mininet runs: it keeps them by the streams of their shells."
    nodes = {n.name: n for n in type(controller).inToNode.values() if n.shell}
    return [nodes[name] for name in sorted(nodes, key=loom_order)]


def loom_docker():
    "Containernet's class of hosts, which plain Mininet lacks."
    try:
        from mininet.node import Docker  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise LoomError('image: hosts from images are Containernet\'s, and this is plain Mininet: leave image= away, '
                        'or take --host container, which needs no Docker')
    return Docker


class HybridTopo(Topo):
    """Racks of hosts, a packet network of spines, and an optical switch with one port a rack. Rates are in Mb/s. With an
    image hosts are Containernet's containers of it."""

    def build(self, racks=4, hosts=2, spines=2, nic=500, eps=50, ocs=1000, dark='10ms', delay=None, swap=None, image=None):  # pylint: disable=arguments-differ,too-many-positional-arguments
        if swap is not None and not ocs:
            raise LoomError('swap=%s: with ocs=0 there is no optical switch whose fibres could be swapped: leave it away' % swap)
        for name, rate in (('nic', nic), ('eps', eps), ('ocs', ocs)):
            if not isinstance(rate, (int, float)) or rate < 0:
                raise LoomError('%s=%s: write a rate as a number of Mb/s, such as %s=50' % (name, rate, name))
        loom_time('dark', dark)
        kind = {'cls': loom_docker(), 'dimage': str(image)} if image else {}

        def cable(a, b, bw):
            self.addLink(a, b, cls=LoomLink, bw=bw, **({'delay': delay} if delay else {}))
        ups = [self.addSwitch('spine%d' % i, role='eps', dpid='%x' % (1 << 16 | i)) for i in range(spines)]
        ups += [self.addSwitch('ocs', role='ocs', dark=dark, swap=swap, dpid='%x' % (2 << 16))] if ocs else []
        for r in range(racks):
            tor = self.addSwitch('tor%d' % r, role='tor', dpid='%x' % (3 << 16 | r))
            for i in range(hosts):
                cable(self.addHost('h%d_%d' % (r, i), **kind), tor, nic)
            for up in ups:
                cable(tor, up, ocs if up == 'ocs' else eps)


class FileTopo(Topo):
    "A topology from a file: YAML of lightloom, containerlab's, GraphML, DOT or node-link JSON."

    def build(self, path):  # pylint: disable=arguments-differ
        said = subprocess.run([loom_program(), 'topology', 'convert', str(path), '-', '--to', 'json'], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if said.returncode:
            raise LoomError(said.stderr.decode().strip())
        graph = json.loads(said.stdout.decode())
        names = {}
        for i, node in enumerate(graph['nodes']):
            name = names[node['id']] = re.sub(r'\W', '_', node['id'])
            role = {'tor': 'tor', 'ocs': 'ocs'}.get(node.get('role'), 'eps')
            if node.get('role') == 'host':
                self.addHost(name)
            else:
                self.addSwitch(name, role=role, dpid='%x' % (4 << 16 | i))
        if len(set(names.values())) < len(names):
            raise LoomError('%s: two nodes have the same name once - and . are written _' % path)
        for link in sorted(graph['links'], key=lambda l: (l.get('source_port', 0), l.get('target_port', 0))):
            rate = link['capacity'] / 1e6  # beyond 1 Gb/s Mininet limits nothing
            self.addLink(names[link['source']], names[link['target']], cls=LoomLink, **({'bw': rate} if rate <= 1000 else {}))


def loom_export(topo, path):
    """Write a topology of Mininet as lightloom's YAML (or by the name of the file in another of its formats). What is an
    optical switch says its role, or a name that begins with ocs; what has hosts is a ToR; bandwidths are kept."""
    def role(name):
        if not topo.isSwitch(name):
            return 'host'
        said = topo.nodeInfo(name).get('role') or ('ocs' if name.startswith('ocs') else None)
        if said:
            return {'eps': 'switch'}.get(said, said)
        return 'tor' if any(name in (a, b) and not (topo.isSwitch(a) and topo.isSwitch(b)) for a, b in topo.links()) else 'switch'
    nodes = sorted(topo.nodes(), key=loom_order)
    ends = {name: [] for name in nodes}
    links = topo.links(sort=True, withInfo=True)
    for i, (_a, _b, info) in enumerate(links):
        ends[info['node1']].append((info['port1'], i))
        ends[info['node2']].append((info['port2'], i))
    port = {name: {i: n for n, (_port, i) in enumerate(sorted(all_))} for name, all_ in ends.items()}
    graph = {'directed': False, 'multigraph': True, 'graph': {}, 'nodes': [{'id': n, 'role': role(n)} for n in nodes], 'links': [
        {'source': info['node1'], 'target': info['node2'], 'source_port': port[info['node1']][i], 'target_port': port[info['node2']][i],
         'capacity': int((info.get('bw') or 10000) * 1e6)} for i, (_a, _b, info) in enumerate(links)]}
    with tempfile.NamedTemporaryFile('w', suffix='.json') as out:
        json.dump(graph, out)
        out.flush()
        said = subprocess.run([loom_program(), 'topology', 'convert', out.name, str(path)], stderr=subprocess.PIPE, check=False)
    if said.returncode:
        raise LoomError(said.stderr.decode().strip())


def loom_main(args):
    "lightloom mininet export: CUSTOM.py TOPO[,ARG...] FILE"
    if len(args) != 4 or args[0] != 'export':
        raise LoomError('write: export CUSTOM.py TOPO[,ARG...] FILE')
    known = dict(TOPOS, **topos)
    with open(args[1]) as source:
        custom = {'__name__': 'custom'}
        exec(compile(source.read(), args[1], 'exec'), custom)  # pylint: disable=exec-used
    known.update(custom.get('topos', {}))
    if args[2].split(',')[0] not in known:
        raise LoomError('%s: there is no topology %r: it has %s' % (args[1], args[2].split(',')[0], ', '.join(sorted(custom.get('topos', {}))) or 'none'))
    loom_export(buildTopo(known, args[2]), args[3])


mininet.net.waitListening = loom_wait_listening
topos = {'hybrid': loom_topo('hybrid', HybridTopo), 'file': loom_topo('file', FileTopo)}
switches = {'loom': LoomSwitch, 'loomtor': LoomToR, 'loomeps': LoomEPS, 'loomocs': LoomOCS}
controllers = {'loom': LoomController}
links = {'loom': LoomLink}
hosts = {'container': LoomContainer}

if __name__ == '__main__':
    try:
        loom_main(sys.argv[1:])
    except (LoomError, OSError, SyntaxError, TypeError, ValueError, KeyError) as e:
        sys.exit('lightloom: export: %s' % e)
