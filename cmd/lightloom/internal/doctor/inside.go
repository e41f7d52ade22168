package doctor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/dataplane/mirred"
	"lightloom/emulator/netns"
	"lightloom/southbound/marking"
	"lightloom/southbound/vcpus"
)

// inside makes the findings that need a namespace of our own.
func inside(room netns.Room) []Finding {
	all := []Finding{bpf(), qdisc("htb", "links have no rate", htb),
		module("u32 and mirred", mirred.Supported()),
		qdisc("netem", "delay=, jitter= and loss= of links in Mininet are refused; others have no delay", netem),
		ecn(), voqs(), tags(), taskVCPUs(),
		congestion(), tsoLog(), mounts(room)}
	return all
}

func bpf() Finding {
	if err := ebpf.Supported(); err != nil {
		return Finding{Name: "bpf", Detail: err.Error(),
			Fix: "run as root; without, the mirred dataplane is used"}
	}
	return Finding{Name: "bpf", OK: true, Detail: "eBPF dataplane: circuits dark to the microsecond"}
}

func module(name string, err error) Finding {
	if err != nil {
		return Finding{Name: name, Detail: err.Error(), Fix: "sudo modprobe -a sch_ingress cls_u32 act_mirred"}
	}
	return Finding{Name: name, OK: true, Detail: "mirred dataplane"}
}

func htb(link int) netlink.Qdisc {
	return netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: link, Handle: netlink.MakeHandle(1, 0),
		Parent: netlink.HANDLE_ROOT})
}

func netem(link int) netlink.Qdisc {
	return netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: link, Handle: netlink.MakeHandle(1, 0),
		Parent: netlink.HANDLE_ROOT}, netlink.NetemQdiscAttrs{Latency: 1000})
}

// qdisc tries a queueing discipline on an interface of a temporary namespace.
func qdisc(name, without string, of func(link int) netlink.Qdisc) Finding {
	err := dataplane.Probe(func(nl *netlink.Handle, packet, _ dataplane.Switch) error {
		return nl.QdiscAdd(of(packet.Ports[0]))
	})
	switch {
	case err == nil:
		return Finding{Name: name, OK: true, Detail: "in the kernel"}
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP):
		return Finding{Name: name, Detail: "not in this kernel: " + without, Fix: "sudo modprobe sch_" + name}
	}
	return wrong(name, err)
}

// ecn tries the queue that --ecn-bytes needs.
func ecn() Finding {
	if err := netns.ECNSupported(); err != nil {
		return Finding{Name: "red", Detail: err.Error() + ": --ecn-bytes is refused",
			Fix: "sudo modprobe sch_red"}
	}
	return Finding{Name: "red", OK: true, Detail: "in the kernel: queues can mark (ECN)"}
}

// voqs tries what --voq-bytes needs.
func voqs() Finding {
	err := netns.VOQsSupported()
	if err == nil {
		return Finding{Name: "VOQs", OK: true, Detail: "a packet was queued and sent on: --voq-bytes works"}
	}
	f := wrong("VOQs", err)
	f.Detail += ": --voq-bytes is refused"
	return f
}

// tags tries what agent tag and agent run --tags need.
func tags() Finding {
	if err := marking.Supported(); err != nil {
		f := wrong("tags by cgroup", err)
		f.Detail += ": programs must set DSCP themselves"
		return f
	}
	return Finding{Name: "tags by cgroup", OK: true,
		Detail: "eBPF marks packets of any program: lightloom agent tag"}
}

// taskVCPUs looks for what agent run --task-cgroups needs.
func taskVCPUs() Finding {
	how, err := vcpus.Supported()
	if err != nil {
		f := wrong("vCPUs by cgroup", err)
		f.Detail += ": agent run --task-cgroups is refused"
		return f
	}
	return Finding{Name: "vCPUs by cgroup", OK: true, Detail: how + ": agent run --task-cgroups"}
}

func congestion() Finding {
	b, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		return wrong("congestion control", err)
	}
	known := strings.Fields(string(b))
	f := Finding{Name: "congestion control", OK: slices.Contains(known, "cubic"),
		Detail: strings.Join(known, " ")}
	if !f.OK {
		f.Fix = "sudo modprobe tcp_cubic"
	}
	return f
}

func tsoLog() Finding {
	const path = "/proc/sys/net/ipv4/tcp_tso_rtt_log"
	if err := os.WriteFile(path, []byte("0"), 0); err != nil {
		return Finding{Name: "tcp_tso_rtt_log", Detail: fmt.Sprintf("%v: segments are bounded by gso_max_size instead", err),
			Fix: "use a kernel of 5.18 or later"}
	}
	return Finding{Name: "tcp_tso_rtt_log", OK: true, Detail: "settable in a namespace: pacing sizes segments"}
}

func mounts(room netns.Room) Finding {
	if len(room.Notes) == 0 {
		return Finding{Name: "mounts", OK: true, Detail: "/run, /proc and /sys are the namespaces' own"}
	}
	return Finding{Name: "mounts", OK: true, Detail: strings.Join(room.Notes, "; ") + " (all works without)"}
}
