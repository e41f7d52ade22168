package netns

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// knobs are the sysctls of one network namespace, below /proc/sys/net. The folder is opened once: the kernel finds it
// among those of all namespaces, one after the other.
type knobs struct{ *os.Root }

// openKnobs opens those of the calling thread's namespace.
func openKnobs() (knobs, error) {
	r, err := os.OpenRoot("/proc/sys/net")
	if err != nil {
		return knobs{}, fmt.Errorf("open sysctls: %w", err)
	}
	return knobs{r}, nil
}

// set writes one; path is below /proc/sys/net.
func (k knobs) set(path, value string) error {
	f, err := k.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(value)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("set net.%s to %s: %w", strings.ReplaceAll(path, "/", "."), value, err)
	}
	return nil
}

// get reads one, without spaces around it.
func (k knobs) get(path string) (string, error) {
	b, err := k.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// disableIPv6 keeps the namespace from sending router solicitations and the like. A
// kernel without IPv6 has nothing to switch off.
func (k knobs) disableIPv6() error {
	for _, which := range []string{"all", "default"} {
		if err := k.set("ipv6/conf/"+which+"/disable_ipv6", "1"); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ofHost makes the namespace that of a host whose TCP agrees with a fluid model. It
// returns what could not be set, as notes, and whether the kernel sizes segments by pacing alone.
func (k knobs) ofHost(table string) (notes []string, byPacing bool) {
	byPacing = true
	for _, s := range []struct{ path, value string }{
		{"ipv4/tcp_tso_rtt_log", "0"}, // a small RTT would override pacing when segments are sized
		{"ipv4/tcp_no_metrics_save", "1"},
		{"ipv4/tcp_slow_start_after_idle", "0"},
		// TCP paces by the smoothed RTT, which remembers the queue of the path before for tens of
		// milliseconds. What is to bound a sender is its line rate or the policy's.
		{"ipv4/tcp_pacing_ca_ratio", "1000"},
		{"ipv4/tcp_pacing_ss_ratio", "1000"},
		// The kernel derives both from the size of the table, which is small.
		{"ipv4/tcp_max_syn_backlog", "2048"},
		{"ipv4/tcp_max_tw_buckets", "131072"},
	} {
		if err := k.set(s.path, s.value); err != nil {
			notes = append(notes, err.Error())
			byPacing = byPacing && s.path != "ipv4/tcp_tso_rtt_log"
		}
	}
	if err := k.childTables(table); err != nil { // the next host is made from this one
		notes = append(notes, err.Error())
	}
	if err := k.disableIPv6(); err != nil {
		notes = append(notes, err.Error())
	}
	return notes, byPacing
}
