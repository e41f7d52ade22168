package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
)

// outside makes the findings that need no namespaces.
func outside(ctx context.Context) []Finding {
	return []Finding{kernel(), userNamespaces(), root(), cores(), stolen(ctx), installed("ping"),
		installed("iperf3")}
}

func kernel() Finding {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return wrong("kernel", err)
	}
	text := func(b []byte) string { s, _, _ := bytes.Cut(b, []byte{0}); return string(s) }
	return Finding{Name: "kernel", OK: true, Detail: text(u.Release[:]) + " " + text(u.Machine[:])}
}

func userNamespaces() Finding {
	if err := netns.Supported(true); err != nil {
		return wrong("user namespaces", err)
	}
	return Finding{Name: "user namespaces", OK: true, Detail: "real packets without root"}
}

func root() Finding {
	if os.Geteuid() == 0 {
		return Finding{Name: "root", OK: true, Detail: "uid 0"}
	}
	return Finding{Name: "root", Detail: fmt.Sprintf("uid %d: the mirred dataplane instead of eBPF",
		os.Geteuid()),
		Fix: "sudo lightloom doctor"}
}

// installed looks for a program that the documents run inside an emulated host.
func installed(name string) Finding {
	path, err := exec.LookPath(name)
	if err != nil {
		pkg := name
		if name == "ping" {
			pkg = "iputils-ping"
		}
		return Finding{Name: name, Detail: "not installed: lightloom exec HOST -- " + name + " cannot run; nothing else " +
			"needs it", Fix: "sudo apt install " + pkg}
	}
	return Finding{Name: name, OK: true, Detail: path}
}

func cores() Finding {
	n := runtime.NumCPU()
	f := Finding{Name: "cores", OK: n >= 2, Detail: fmt.Sprintf("%d", n)}
	if !f.OK {
		f.Fix = "use a machine with two cores: on one, packets wait for the controller"
	}
	return f
}

// stolen measures briefly how much of the machine others use: the hypervisor's steal, and processes
// beside ours.
func stolen(ctx context.Context) Finding {
	const look, bound = 300 * time.Millisecond, 0.3
	before, err := readCPU()
	if err != nil {
		return wrong("stolen CPU", err)
	}
	began := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(look):
	}
	after, err := readCPU()
	if err != nil {
		return wrong("stolen CPU", err)
	}
	ticks := time.Since(began).Seconds() * 100 // USER_HZ, which is 100 on every Linux that Go runs on
	steal, busy := float64(after.steal-before.steal)/ticks, float64(after.busy-before.busy)/ticks
	f := Finding{Name: "stolen CPU", OK: steal+busy <= bound,
		Detail: fmt.Sprintf("%.2f cores by the hypervisor, %.2f busy with other work", steal, busy)}
	if !f.OK {
		f.Fix = "stop other work: runs with more than 0.3 core taken by others are repeated"
	}
	return f
}

type cpuTicks struct{ busy, steal int64 }

// readCPU reads the first line of /proc/stat: user nice system idle iowait irq softirq steal.
func readCPU() (cpuTicks, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTicks{}, err
	}
	return parseCPU(string(b))
}

func parseCPU(stat string) (cpuTicks, error) {
	first, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(first)
	if len(f) < 9 || f[0] != "cpu" {
		return cpuTicks{}, fmt.Errorf("read /proc/stat: first line is %q", first)
	}
	var n [8]int64
	for i := range n {
		v, err := strconv.ParseInt(f[1+i], 10, 64)
		if err != nil {
			return cpuTicks{}, fmt.Errorf("read /proc/stat: %w", err)
		}
		n[i] = v
	}
	return cpuTicks{busy: n[0] + n[1] + n[2] + n[5] + n[6], steal: n[7]}, nil
}
