package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"lightloom/lab/experiment/kept"
	"lightloom/lab/scenario"
	"lightloom/southbound/durable"
)

// Experiment keeps the runs of an experiment in a folder of results, where any process makes them.
type Experiment struct {
	Folder   Folder
	Name     string
	Engine   string   // its name, for who asks for the status
	Identity string   // the hash of all that decides its figures: see Identity
	Again    string   // the command that goes on
	lock     *os.File // nil: a task
	began    time.Time
	points   []Key // of the grids so far
}

// Identity is the hash of what decides the figures of an experiment: the program's hash, its settings, and the content
// of a folder of traces, or of a file; "" is none.
func Identity(program string, settings any, data string) (string, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return "", fmt.Errorf("name runs: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", program, text)
	if data != "" {
		if err := (&tree{h, map[inode]string{}}).hash(data, "."); err != nil {
			return "", fmt.Errorf("read traces: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// tree hashes a folder, through symbolic links too.
type tree struct {
	to   io.Writer
	seen map[inode]string // the names of folders
}

type inode struct{ device, number uint64 }

// hash hashes what is at a path. What an experiment cannot read either counts as that.
func (t *tree) hash(path, name string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		fmt.Fprintf(t.to, "%q cannot be read\n", name)
		return nil
	case info.IsDir():
		return t.folder(info, path, name)
	case !info.Mode().IsRegular():
		return nil
	}
	sum, _, err := scenario.HashFile(path)
	if errors.Is(err, fs.ErrPermission) {
		sum, err = "cannot be read", nil
	}
	fmt.Fprintf(t.to, "%q %s\n", name, sum)
	return err
}

// folder hashes a folder, once: links can lead around in circles.
func (t *tree) folder(info fs.FileInfo, path, name string) error {
	var at inode
	if is, ok := info.Sys().(*syscall.Stat_t); ok {
		at = inode{is.Dev, is.Ino}
	}
	if first, seen := t.seen[at]; seen {
		fmt.Fprintf(t.to, "%q is %q\n", name, first)
		return nil
	}
	t.seen[at] = name
	all, err := os.ReadDir(path)
	if err != nil {
		fmt.Fprintf(t.to, "%q cannot be read\n", name)
	}
	for _, e := range all {
		if err := t.hash(filepath.Join(path, e.Name()), filepath.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Lock takes the folder for this experiment, until Close.
func (x *Experiment) Lock(ctx context.Context) (err error) {
	x.began = time.Now()
	x.lock, err = x.Folder.lock(ctx)
	return err
}

// Close gives the folder back.
func (x *Experiment) Close() error { return x.lock.Close() }

func (x *Experiment) key(k kept.Key) Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d %d %d\n", x.Identity, x.Name, k.Grid, k.Setting, k.Seed))
	return Key(hex.EncodeToString(sum[:]))
}

// Figures implements the store of an experiment's runs.
func (x *Experiment) Figures(k kept.Key) (json.RawMessage, bool) {
	is, err := x.Folder.kept(x.key(k))
	return is.Figures, err == nil && is.hasFigures()
}

// Keep implements the store of an experiment's runs.
func (x *Experiment) Keep(k kept.Key, figures json.RawMessage, took time.Duration) error {
	return x.Folder.put(point{Key: x.key(k), Figures: figures, Sum: sumOf(figures), Took: took.Seconds(), Peak: peak()})
}

// Fill has an engine make the runs of a grid that are missing: a group for each setting and seed. byHand is the command
// of a task, before the groups. Progress goes to stderr.
func (x *Experiment) Fill(ctx context.Context, engine func(*Runs) Engine, byHand string, grid, settings, seeds int,
	first uint64, stderr io.Writer) error {
	r := &Runs{Folder: x.Folder, Seeds: seeds, ByHand: byHand, Keys: func(g Group) []Key {
		return []Key{x.key(kept.Key{Grid: grid, Setting: g.Case, Seed: first + uint64(g.Seed)})}
	}}
	var all []Group
	for seed := range seeds { // an interruption leaves whole seeds
		for setting := range settings {
			g := Group{setting, seed}
			all, x.points = append(all, g), append(x.points, r.Keys(g)...)
			if err := r.Folder.mend(r.Keys(g)[0]); err != nil {
				return err
			}
		}
	}
	missing := r.count(all)
	if err := x.announce(len(all) - missing); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "grid %d: %d runs, %d to make; results in %s\n", grid+1, len(all), missing, string(x.Folder))
	bar := Bar(missing, 0, stderr)
	if err := r.Fill(ctx, engine(r), all, func() { _ = bar.Add(1) }); err != nil {
		return errors.Join(err, bar.Clear())
	}
	return bar.Finish()
}

// announce writes what others may know.
func (x *Experiment) announce(held int) error {
	st := state{File: "the experiment " + x.Name, Engine: x.Engine, Points: x.points, Process: os.Getpid(), Began: x.began,
		Held: held, Again: x.Again}
	st.Host, _ = os.Hostname() // for readers alone
	st.Start = started(st.Process)
	b, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("write state of experiment: %w", err)
	}
	if err := durable.Replace(x.Folder.statePath(), b, false); err != nil {
		return &FullError{x.Folder, err}
	}
	return nil
}
