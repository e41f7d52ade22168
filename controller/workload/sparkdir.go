package workload

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// ReadSparkFile reads the event log of a Spark application, compressed by any of Spark's codecs but lzf, by gzip, or
// not: a job for each Spark job, with the stages that ran for it and their tasks. Tasks compute as long as they ran
// without waiting for blocks. A stage receives what its tasks read of shuffles, from its parents by what these wrote;
// from a parent that ran for an earlier job it reads that job's output. Blocks of the file system have their size
// only. A log that ends in the middle of a line holds what it holds. Anything else is an error that names file and
// line.
//
// The path is that of a file, or of a folder eventlog_v2_… as Spark rolls logs (the default from 4.0 on). The parts of
// a folder are read in their order; what Spark has compacted stands for all parts up to its own, and has forgotten jobs
// that had ended.
func ReadSparkFile(path string) (*Spark, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read Spark event log: %w", err)
	}
	l := newSparkLog()
	if !st.IsDir() {
		return l.files(path, []sparkPart{{path: path}})
	}
	parts, err := l.parts(path)
	if err != nil {
		return nil, fmt.Errorf("read Spark event log %q: %w", path, err)
	}
	return l.files(path, parts)
}

// files reads parts in order.
func (l *sparkLog) files(path string, parts []sparkPart) (*Spark, error) {
	for i, p := range parts {
		f, err := os.Open(p.path)
		if err != nil {
			return nil, fmt.Errorf("read Spark event log: %w", err)
		}
		if err := errors.Join(l.read(f, i == len(parts)-1), f.Close()); err != nil {
			return nil, fmt.Errorf("read Spark event log %q: %w", p.path, err)
		}
	}
	return l.spark(path)
}

// sparkPart is one file of a rolled log.
type sparkPart struct {
	path    string
	index   int
	compact bool
}

// parts returns the parts of a rolled log that count, in order.
func (l *sparkLog) parts(dir string) ([]sparkPart, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	name := regexp.MustCompile(`^events_([0-9]{1,9})_.*?(\.compact)?$`)
	var all []sparkPart
	for _, e := range entries {
		if m := name.FindStringSubmatch(e.Name()); m != nil && !e.IsDir() {
			index, _ := strconv.Atoi(m[1]) // it is digits
			all = append(all, sparkPart{filepath.Join(dir, e.Name()), index, m[2] != ""})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no file events_1_… in this folder: name an event log, or a folder eventlog_v2_… of one")
	}
	slices.SortFunc(all, func(a, b sparkPart) int {
		return cmp.Or(cmp.Compare(a.index, b.index), compareBool(a.compact, b.compact),
			cmp.Compare(a.path, b.path))
	})
	first := 1
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].compact {
			l.notes = append(l.notes, fmt.Sprintf("Spark has compacted the event log up to part %d: jobs that had ended by "+
				"then are not in it", all[i].index))
			all, first = all[i:], all[i].index
			break
		}
	}
	for i, p := range all {
		switch want := first + i; {
		case p.index < want:
			return nil, fmt.Errorf("two parts %d, %q and %q: leave one out", p.index, filepath.Base(all[i-1].path),
				filepath.Base(p.path))
		case p.index > want:
			return nil, fmt.Errorf("part %d is missing: put events_%d_… into the folder", want, want)
		}
	}
	return all, nil
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
