package run

import (
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Version names this build: its module version, or the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

// cpuSeconds is what this process and its children that have ended have used.
func cpuSeconds() float64 {
	sum := 0.0
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var r unix.Rusage
		if unix.Getrusage(who, &r) == nil {
			sum += float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
		}
	}
	return sum
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
