package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lightloom/controller/workload"
	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

// Folder names the files of a directory that up takes; empty where a file is not there. None of them
// names a program.
type Folder struct {
	Fabric string // fabric.yaml, which must be there
	Jobs   string // jobs.yaml: they are submitted once the fabric is up
	Faults string // faults.txt: their instants count from then on
}

// OpenFolder finds a directory's files.
func OpenFolder(dir string) (Folder, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if strings.Contains(dir, "://") || strings.HasSuffix(dir, ".git") {
			return Folder{}, hint.New(fmt.Sprintf("open folder %q: up fetches nothing", dir),
				"git clone it, read it, and name "+
					"its directory")
		}
		return Folder{}, hint.New(fmt.Sprintf("open folder %q: there is no such directory", dir),
			"write lightloom up DIR, or lightloom up --fabric FABRIC")
	}
	var f Folder
	for to, name := range map[*string]string{&f.Fabric: "fabric.yaml", &f.Jobs: "jobs.yaml",
		&f.Faults: "faults.txt"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		*to = path
	}
	if f.Fabric == "" {
		return f, hint.New(fmt.Sprintf("open folder %q: it has no fabric.yaml", dir),
			"a folder has fabric.yaml, and "+
				"perhaps jobs.yaml and faults.txt")
	}
	if f.Jobs != "" { // mistakes in it are found before anything is built
		if _, err := workload.ReadJobFile(f.Jobs); err != nil {
			return f, err
		}
	}
	return f, nil
}

// follow makes faults happen at their instants since now, until ctx ends.
func follow(ctx context.Context, faults []fault.Event, stdout, stderr io.Writer) {
	began := time.Now()
	for _, f := range faults {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(began.Add(f.At))):
		}
		err := Break(ctx, BreakOptions{Fault: f.Fault, Heal: f.Heal, Output: console.OutputTable,
			Stdout: stdout})
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(stderr, "%v: %v\n", f, err)
		}
	}
}
