package chakra

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lightloom/controller/training"
)

// Open reads the traces at a path: a folder with one set of them, one of the files, or what their names have before
// .RANK.et.
func Open(path string, groups Groups) (*training.Workload, error) {
	prefix, ranks, err := find(path)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	var sources []Source
	for r := range ranks {
		sources = append(sources, Source{fileOf(prefix, r), &lazy{name: fileOf(prefix, r)}})
	}
	return Read(prefix, sources, groups)
}

func fileOf(prefix string, rank int) string { return fmt.Sprintf("%s.%d.et", prefix, rank) }

// lazy is a file that is opened when it is first read, and closed at its end: a trace can have thousands.
type lazy struct {
	name string
	file *os.File
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.file == nil {
		f, err := os.Open(l.name)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	n, err := l.file.Read(p)
	if errors.Is(err, io.EOF) {
		l.file.Close()
	}
	return n, err
}

// mostRanks bounds the ranks of a trace.
const mostRanks = 1 << 16

// find returns the prefix of the files at a path, and how many ranks there are.
func find(path string) (string, int, error) {
	prefix, pattern := path, filepath.Dir(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		prefix, pattern = "", path
	case err == nil:
		prefix, _ = split(path)
		if prefix == "" {
			return "", 0, fmt.Errorf("%s is no trace of a rank: its name has to end in .0.et, .1.et and so on", path)
		}
	}
	entries, err := os.ReadDir(pattern)
	if err != nil {
		return "", 0, err
	}
	found := map[string][]int{}
	for _, e := range entries {
		p, r := split(filepath.Join(pattern, e.Name()))
		if p != "" && !e.IsDir() && (prefix == "" || p == prefix) {
			found[p] = append(found[p], r)
		}
	}
	return choose(path, found)
}

// split returns what a file's name has before .RANK.et, and the rank.
func split(path string) (string, int) {
	base, ok := strings.CutSuffix(path, ".et")
	i := strings.LastIndexByte(base, '.')
	if !ok || i < 0 {
		return "", 0
	}
	r, err := strconv.ParseUint(base[i+1:], 10, 31)
	if err != nil {
		return "", 0
	}
	return base[:i], int(r)
}

// choose returns the one set of files that was found, whose ranks begin at 0 and leave none out.
func choose(path string, found map[string][]int) (string, int, error) {
	switch len(found) {
	case 0:
		return "", 0, fmt.Errorf("%s: %w: write a folder with NAME.0.et, NAME.1.et …, or that path and NAME", path,
			fs.ErrNotExist)
	case 1:
	default:
		var names []string
		for p := range found {
			names = append(names, filepath.Base(p))
		}
		slices.Sort(names)
		return "", 0, fmt.Errorf("%s has several traces, %s and %s: write %s", path, names[0], names[1],
			filepath.Join(path, names[0]))
	}
	for prefix, ranks := range found {
		slices.Sort(ranks)
		for i, r := range ranks {
			if i != r {
				return "", 0, fmt.Errorf("%s is missing, and %s is there: a trace has a file for every rank", fileOf(prefix, i),
					fileOf(prefix, ranks[len(ranks)-1]))
			}
		}
		if len(ranks) > mostRanks {
			return "", 0, fmt.Errorf("%s has more than %d ranks", prefix, mostRanks)
		}
		return prefix, len(ranks), nil
	}
	panic("chakra: no set of files")
}
