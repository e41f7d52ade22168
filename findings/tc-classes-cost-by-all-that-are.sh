#!/usr/bin/env bash
# Guess: adding an HTB class to an interface takes the same time however many classes other interfaces, of other
#        namespaces, have.
# Seen:  each HTB class, like each clsact, has a block of filters, and on an interface whose driver offloads nothing
#        (a veth, say) the kernel keeps all blocks of the machine in one list and goes through it for each one that is
#        added (flow_indr_dev_setup_offload), to offer it to drivers that are perhaps loaded later. So n classes take
#        n² steps: the last of 24,000 take several times as long as the first, and 64,000 over a minute of processor
#        time.
# With:  Linux 6.18, iproute2 6.1.
set -euo pipefail

if [ "${1:-}" != inside ]; then
  [ "$(id -u)" = 0 ] || { echo "needs root, to make network namespaces"; exit 77; }
  for tool in ip tc python3; do
    command -v $tool >/dev/null || { echo "needs $tool"; exit 77; }
  done
  exec timeout 110 unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" inside
fi
mount -t tmpfs none /run
echo "Linux $(uname -r), $(tc -V)"

python3 - <<'PY'
import resource, subprocess, sys

def batch(tool, lines):
    """Runs lines as one batch, and returns its processor time in the kernel, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
    subprocess.run([tool, "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime - before

times = []
for turn in range(24):
    dev = f"v{turn}"
    batch("ip", [f"link add {dev} type veth peer name {dev}-peer", f"link set {dev} up"])
    batch("tc", [f"qdisc add dev {dev} root handle 1: htb"])
    times.append(batch("tc", [f"class add dev {dev} parent 1: classid 1:{c:x} htb rate 1mbit" for c in range(1, 1001)]))
first, last = sum(times[:4]), sum(times[-4:])
print(f"4,000 classes took {first:.2f} s beside few others, and {last:.2f} s beside 20,000 of other interfaces")
if last < 2 * first:
    print("CHANGED: the later classes took over twice as long as the first")
    sys.exit(1)
PY
