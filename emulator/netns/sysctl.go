package netns

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// sysctl writes one knob of the calling thread's network namespace; path is below /proc/sys.
func sysctl(path, value string) error {
	if err := os.WriteFile("/proc/sys/"+path, []byte(value), 0); err != nil {
		return fmt.Errorf("set %s to %s: %w", strings.ReplaceAll(path, "/", "."), value, err)
	}
	return nil
}

// disableIPv6 keeps the calling thread's namespace from sending router solicitations and the like. A
// kernel without IPv6 has nothing to switch off.
func disableIPv6() error {
	for _, which := range []string{"all", "default"} {
		if err := sysctl("net/ipv6/conf/"+which+"/disable_ipv6", "1"); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// hostSysctls makes the calling thread's namespace a host whose TCP agrees with a fluid model. It
// returns what could not be set, as notes, and whether the kernel sizes segments by pacing alone.
func hostSysctls() (notes []string, byPacing bool) {
	byPacing = true
	for _, s := range []struct{ path, value string }{
		{"net/ipv4/tcp_tso_rtt_log", "0"}, // a small RTT would override pacing when segments are sized
		{"net/ipv4/tcp_no_metrics_save", "1"},
		{"net/ipv4/tcp_slow_start_after_idle", "0"},
		// TCP paces by the smoothed RTT, which remembers the queue of the path before for tens of
		// milliseconds. What is to bound a sender is its line rate or the policy's.
		{"net/ipv4/tcp_pacing_ca_ratio", "1000"},
		{"net/ipv4/tcp_pacing_ss_ratio", "1000"},
		// The kernel derives both from the size of the table, which is small.
		{"net/ipv4/tcp_max_syn_backlog", "2048"},
		{"net/ipv4/tcp_max_tw_buckets", "131072"},
	} {
		if err := sysctl(s.path, s.value); err != nil {
			notes = append(notes, err.Error())
			byPacing = byPacing && s.path != "net/ipv4/tcp_tso_rtt_log"
		}
	}
	if err := childTables(); err != nil { // the next host is made from this one
		notes = append(notes, err.Error())
	}
	if err := disableIPv6(); err != nil {
		notes = append(notes, err.Error())
	}
	return notes, byPacing
}
