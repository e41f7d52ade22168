package killed

import (
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/lab/labtest"
)

func wantAll(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(out, w+"\n") {
			t.Errorf("want %q", w)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestUpPartsKilled kills a capture, a command in a host, and the fabric's own process without warning: everything else
// continues, and nothing is left of the killed one.
func TestUpPartsKilled(t *testing.T) {
	out := labtest.InRoom(t, labtest.NewRoom(t), `
./lightloom up --fabric hybrid:racks=2,hosts=1,spines=1 > up.log 2>&1 &
up=$!
until_ "grep -q '^up: ' up.log"
./lightloom capture tor0-1 -o c.pcapng > capture.log 2>&1 &
capture=$!
until_ "[ -s c.pcapng ]"
./lightloom exec h0-0 sleep 1000 &
exec=$!
until_ "[ \$(left sleep) -ge 1 ]"
before=$(left lightloom)
kill -9 $capture
wait $capture
until_ "[ \$(left lightloom) -lt $before ]"
./lightloom status > /dev/null && ./lightloom exec h0-0 echo the fabric goes on without its capture
kill -9 $exec
wait $exec
until_ "[ \$(left sleep) = 0 ]"
./lightloom exec h1-0 echo and without its command
kill -9 $up
wait $up
until_ "[ \$(left lightloom) = 0 ]"
files=$(ls -d /run/lightloom?* /tmp/* 2>/dev/null | wc -l)
echo "left $(left lightloom) processes, $(ip -o link | grep -vc ': lo:') interfaces, $files files"
`)
	wantAll(t, out, "the fabric goes on without its capture", "and without its command",
		"left 0 processes, 0 interfaces, 0 files")
	if strings.Contains(out, "never: ") {
		t.Error(out)
	}
}

// TestSwitchKilled kills a switch that runs by itself: its guard restores the interfaces, and ends.
func TestSwitchKilled(t *testing.T) {
	dir := labtest.NewRoom(t)
	for _, dataplane := range []string{"mirred", "ebpf --voq-bytes 1000000"} {
		t.Run(dataplane, func(t *testing.T) {
			if strings.HasPrefix(dataplane, "ebpf") {
				if err := netns.VOQsSupported(); err != nil {
					t.Skip(err)
				}
			}
			out := labtest.InRoom(t, dir, `
ip link add a0 type veth peer name a1; ip link add b0 type veth peer name b1
ip link set a1 up; ip link set b1 up
ours() { ip -o link | grep -c 'll[sep]'; }
hooks() { tc qdisc show | grep -c 'qdisc ingress'; }
start() {
  rm -f switch.log
  ./lightloom switch run --name tor0 --role tor --racks 2 --rack 0 --hosts 1 --ports a0,b0 --fibre b0 \
    --plaintext --listen unix:tor0.sock --dataplane `+dataplane+` > switch.log 2>&1 &
  switch=$!
  until_ "grep -q 'listens at' switch.log"
}
start
[ $(ours) -ge 2 ] && [ $(hooks) = 2 ] && echo it runs
kill -9 $switch
wait $switch
until_ "[ \$(left lightloom) = 0 ]"
ipv6=$(cat /proc/sys/net/ipv6/conf/a0/disable_ipv6 2>/dev/null || echo 0)
echo "left $(ours) interfaces, $(hooks) hooks, IPv6 $ipv6"
start
killall_ lightloom
wait $switch
until_ "[ \$(left lightloom) = 0 ]"
[ -S tor0.sock ] && echo "its guard was killed, too"
start
kill $switch
wait $switch
[ ! -e tor0.sock ] &&
  echo "the next one ended with $?, left $(ours) interfaces, $(hooks) hooks, $(left lightloom) processes"
`)
			wantAll(t, out, "it runs", "its guard was killed, too", "left 0 interfaces, 0 hooks, IPv6 0",
				"the next one ended with 0, left 0 interfaces, 0 hooks, 0 processes")
		})
	}
}

// parts makes keys for a small fabric whose switches do not answer, and starts its controller, or an agent of a host.
const parts = `
fabric=hybrid:racks=2,hosts=1,spines=1
./lightloom controller keys keys --fabric $fabric --agents
printf 'devices:\n  tor0: unix:/run/a\n  tor1: unix:/run/b\n  spine0: unix:/run/c\n  ocs: unix:/run/d\n' > devices.yaml
ls keys > before
ip addr add 10.0.0.1/32 dev lo
things() { ls -d /run/lightloom?* /tmp/* 2>/dev/null | wc -l; }
more() { ls keys | grep -v '^clusters$' | comm -13 before - | wc -l; }
where=replicas
logs() { ls -d keys/$where/*/log 2>/dev/null | wc -l; }
controller() {
  rm -f controller.log
  ./lightloom controller run --fabric $fabric --devices devices.yaml --tls-dir keys $1 > controller.log 2>&1 &
  controller=$!
  until_ "grep -q programming controller.log && [ \$(left lightloom) = 4 ] && \
    [ \$(logs) = 3 ]"
}
agent() {
  rm -f agent.log
  ./lightloom agent run --fabric $fabric --host h0-0 --listen unix:agent.sock --tls-dir keys > agent.log 2>&1 &
  agent=$!
  until_ "grep -q 'listens at' agent.log"
}
gone() { wait $1; echo "$2: status $?"; until_ "[ \$(left lightloom) = 0 ]"; }
`

// TestControllerKilled kills a controller that runs by itself, one of its replicas, and all of them at once. Replicas
// end with the controller, and are started again while it lives; their logs stay for the next controller, until they
// are destroyed.
func TestControllerKilled(t *testing.T) {
	out := labtest.InRoom(t, labtest.NewRoom(t), parts+`
controller
kill -9 $controller
gone $controller "the controller"
echo "of it $(left lightloom) processes, $(logs) logs, $(more) more files, $(things) elsewhere"
controller
for p in $(pids lightloom); do [ $p = $controller ] || replica=$p; done
kill -9 $replica
until_ "! [ -e /proc/$replica ] && [ \$(left lightloom) = 4 ]"
kill -0 $controller && grep -o 'has ended: it is started again' controller.log
./lightloom cluster destroy keys/replicas --yes 2>&1 | grep -o 'another process uses it'
killall_ lightloom
gone $controller "all at once"
echo "of all $(left lightloom) processes, $(logs) logs, $(more) more files, $(things) elsewhere"
controller
kill $controller
gone $controller "in order"
echo "in order $(left lightloom) processes, $(logs) logs, $(more) more files, $(things) elsewhere"
rm -r keys/replicas/controller1/log keys/replicas/controller1/vote
./lightloom controller run --fabric $fabric --devices devices.yaml --tls-dir keys 2>&1 | grep -o 'has lost its log'
./lightloom cluster destroy keys/replicas > destroy.log 2>&1
echo "without --yes: status $?, $(logs) logs, $(grep -c 'would delete' destroy.log) lines"
./lightloom cluster destroy keys/replicas --yes > /dev/null
echo "destroyed: status $?, $(ls keys/replicas | wc -l) directories"
./lightloom controller run --fabric $fabric --devices devices.yaml --tls-dir keys 2>&1 |
  grep -o 'lightloom cluster init keys/replicas'
./lightloom cluster init keys/replicas --fabric $fabric
controller
kill $controller
gone $controller "on a new cluster"
where=lightloom-*
controller --ephemeral
kill -9 $controller
gone $controller "with keys of its own"
echo "of these $(ls -d keys 2>/dev/null | wc -l) directories"
`)
	wantAll(t, out, "the controller: status 137", "of it 0 processes, 3 logs, 0 more files, 0 elsewhere",
		"has ended: it is started again", "another process uses it",
		"all at once: status 137", "of all 0 processes, 3 logs, 0 more files, 0 elsewhere",
		"in order: status 0", "in order 0 processes, 3 logs, 0 more files, 0 elsewhere", "has lost its log",
		"without --yes: status 2, 2 logs, 3 lines", "destroyed: status 0, 0 directories",
		"lightloom cluster init keys/replicas", "on a new cluster: status 0", "with keys of its own: status 137",
		"of these 0 directories")
	if strings.Contains(out, "never: ") {
		t.Error(out)
	}
}

// TestAgentKilled kills an agent that runs by itself: its guard removes its socket; if the guard was killed too, the
// next agent replaces the socket. The last leader's election id stays in a file beside its keys.
func TestAgentKilled(t *testing.T) {
	out := labtest.InRoom(t, labtest.NewRoom(t), parts+`
sockets() { ls agent.sock 2>/dev/null | wc -l; }
agent
./lightloom agent run --fabric $fabric --host h0-0 --listen unix:agent.sock --tls-dir keys 2>&1 |
  grep -o 'address already in use'
echo "it runs in $(left lightloom) processes, $(sockets) socket"
kill -9 $agent
gone $agent "the agent"
echo "of it $(left lightloom) processes, $(sockets) sockets, $(more) files in the keys, $(things) elsewhere"
agent
killall_ lightloom
gone $agent "with its guard"
echo "with its guard $(left lightloom) processes, $(sockets) sockets"
agent
kill $agent
gone $agent "in order"
echo "in order $(left lightloom) processes, $(sockets) sockets, $(more) files in the keys, $(things) elsewhere"
`)
	wantAll(t, out, "address already in use", "it runs in 2 processes, 1 socket", "the agent: status 137",
		"of it 0 processes, 0 sockets, 1 files in the keys, 0 elsewhere",
		"with its guard: status 137", "with its guard 0 processes, 1 sockets",
		"in order: status 0", "in order 0 processes, 0 sockets, 1 files in the keys, 0 elsewhere")
	if strings.Contains(out, "never: ") {
		t.Error(out)
	}
}
