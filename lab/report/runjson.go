package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Run is run.json: the values that differ between machines, and between two runs of the same thing.
type Run struct {
	Version   string      `json:"version"`
	Command   []string    `json:"command"`
	Started   time.Time   `json:"started"`
	Ended     time.Time   `json:"ended"`
	Wall      float64     `json:"wall_seconds"`
	CPU       float64     `json:"cpu_seconds"`
	Predicted float64     `json:"predicted_wall_seconds,omitempty"`
	Host      Host        `json:"host"`
	Inputs    []Place     `json:"inputs,omitempty"` // where the files that were read lay
	Policies  []PolicyRun `json:"policies"`
	Notes     []string    `json:"notes,omitempty"`
}

// PolicyRun is the cost of one row.
type PolicyRun struct {
	Name            string  `json:"name"`
	Wall            float64 `json:"wall_seconds"`
	CPU             float64 `json:"cpu_seconds"`
	StolenCores     float64 `json:"stolen_cores"` // used by others on this machine, on average
	EventsPerSecond float64 `json:"events_per_second,omitempty"`
	Seed            uint64  `json:"seed,omitempty"`
	Error           string  `json:"error,omitempty"`    // it failed
	Repeated        int     `json:"repeated,omitempty"` // runs beside the one that counts, which others disturbed less
}

// Host is the machine.
type Host struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Go     string `json:"go"`
}

// ThisHost describes this machine; fields that cannot be read are empty.
func ThisHost() Host {
	h := Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(b))
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		h.CPU = modelName(b)
	}
	return h
}

func modelName(cpuinfo []byte) string {
	for lines := bufio.NewScanner(bytes.NewReader(cpuinfo)); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// MachineBusy returns the CPU time that all processes of the machine have used so far, including time that its host
// took from it (steal). The difference of two readings, less the run's own use, is the use by others.
func MachineBusy() (time.Duration, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read CPU times: %w", err)
	}
	return busy(string(b))
}

// MachineWaited returns for how long so far something on this machine has waited for a processor.
func MachineWaited() (time.Duration, error) {
	b, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0, fmt.Errorf("read CPU pressure: %w", err)
	}
	return waited(string(b))
}

// waited reads the first line of a pressure file: "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS".
func waited(pressure string) (time.Duration, error) {
	line, _, _ := strings.Cut(pressure, "\n")
	_, total, found := strings.Cut(line, " total=")
	us, err := strconv.ParseInt(total, 10, 64)
	if !found || err != nil || !strings.HasPrefix(line, "some ") {
		return 0, fmt.Errorf("read CPU pressure: %q says no total", line)
	}
	return time.Duration(us) * time.Microsecond, nil
}

// busy reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, in hundredths of a
// second (proc(5); USER_HZ is 100 on every Linux that Go runs on).
func busy(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0, errors.New("read CPU times: /proc/stat has no line of eight times")
	}
	sum := int64(0)
	for i, s := range f[1:9] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read CPU times: %w", err)
		}
		if i != 3 && i != 4 { // idle, waiting
			sum += n
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond, nil
}
