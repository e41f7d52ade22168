package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"lightloom/lab/report"
	"lightloom/lab/version"
	"lightloom/pathmap/topo"
)

// Synthetic names the built-in generator where a trace is asked for.
const Synthetic = "synthetic"

// What begins the parts of a policy's name that are files.
const (
	schedulePart = "schedule:"
	recordedPart = "recorded:"
)

// swimPart begins the part of a workload's text that is a file.
const swimPart = "swim="

// sparkPart begins a workload that is the event log of a Spark application.
const sparkPart = "spark:"

// inputs returns the files that settings name: values of flags that can be files, and schedules within
// lists of policies. The names are the paths as typed.
func inputs(settings []report.Setting) []report.Setting {
	var out []report.Setting
	add := func(flag, path string) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() &&
			!slices.Contains(out, report.Setting{Flag: flag, Value: path}) {
			out = append(out, report.Setting{Flag: flag, Value: path})
		}
	}
	for _, s := range settings {
		if s.Input && s.Value != Synthetic {
			add(s.Flag, filePart(s.Value))
		}
		for _, part := range strings.FieldsFunc(s.Value, func(r rune) bool { return r == ',' || r == '+' }) {
			for _, prefix := range []string{schedulePart, recordedPart} {
				if path, ok := strings.CutPrefix(strings.TrimSpace(part), prefix); ok {
					add(s.Flag, path)
				}
			}
			if _, path, ok := strings.Cut(part, swimPart); ok && s.Flag == "workload" {
				add(s.Flag, path)
			}
		}
	}
	return out
}

// filePart is the path within the value of a flag: all of it, or what a fabric of the kind file: or a
// workload of the kind spark: names.
func filePart(value string) string {
	if path, ok := strings.CutPrefix(value, sparkPart); ok {
		return path
	}
	path, ok := strings.CutPrefix(value, topo.FileKind+":")
	if !ok {
		return value
	}
	path, _, _ = strings.Cut(path, ",")
	return strings.TrimPrefix(path, "path=")
}

// Substitute replaces the path of an input in the value of its flag.
func Substitute(value, from, to string) string {
	switch {
	case value == from:
		return to
	case value == sparkPart+from:
		return sparkPart + to
	case strings.HasPrefix(value, topo.FileKind+":") && filePart(value) == from:
		return topo.FileKind + ":" + strings.Replace(value[len(topo.FileKind)+1:], from, to, 1)
	}
	value = strings.ReplaceAll(value, swimPart+from, swimPart+to)
	value = strings.ReplaceAll(value, recordedPart+from, recordedPart+to)
	return strings.ReplaceAll(value, schedulePart+from, schedulePart+to)
}

// SpecText is a fabric's text in reports: files without their directories.
func SpecText(s topo.Spec) string {
	if s.File != "" {
		s.File = filepath.Base(s.File)
	}
	return s.String()
}

// Manifest returns what made this run, and where its files are.
func (s *Prepared) Manifest() (*report.Manifest, []report.Place, error) {
	m := &report.Manifest{Format: report.Format, Version: version.This(), Command: "replay", Seeds: s.Seeds(),
		Fabric: SpecText(s.Spec), Jobs: s.Digest()}
	if b, ok := debug.ReadBuildInfo(); ok {
		m.Commit, m.Changed = version.Setting(b, "vcs.revision"), version.Setting(b, "vcs.modified") == "true"
	}
	if s.Options.Demo {
		m.Command = "demo"
	}
	m.Settings = slices.Clone(s.Options.Settings)
	for i := range m.Settings {
		switch v := &m.Settings[i]; v.Flag { // resolved, for they depend on the machine
		case "on":
			v.Value = s.Options.On
		case "scale":
			v.Value = strconv.FormatFloat(s.Options.Scale, 'g', -1, 64)
		case "speedup":
			v.Value = strconv.FormatFloat(s.Options.Speedup, 'g', -1, 64)
		case "coflows":
			v.Value = strconv.Itoa(s.Options.Coflows)
		}
	}
	var places []report.Place
	for _, in := range inputs(m.Settings) {
		one, place, err := hashInput(in.Flag, in.Value)
		if err != nil {
			return nil, nil, err
		}
		for i := range m.Settings {
			if v := &m.Settings[i]; v.Flag == in.Flag {
				v.Value = Substitute(v.Value, in.Value, one.Name)
			}
		}
		m.Inputs, places = append(m.Inputs, one), append(places, place)
	}
	slices.SortFunc(m.Inputs, func(a, b report.Input) int {
		return cmp.Or(cmp.Compare(a.Flag, b.Flag), cmp.Compare(a.Name, b.Name), cmp.Compare(a.SHA256, b.SHA256))
	})
	return m, places, nil
}

func hashInput(flag, path string) (report.Input, report.Place, error) {
	in := report.Input{Flag: flag, Name: filepath.Base(path)}
	abs, err := filepath.Abs(path)
	if err != nil {
		return in, report.Place{}, fmt.Errorf("hash input %q: %w", path, err)
	}
	in.SHA256, in.Bytes, err = HashFile(path)
	return in, report.Place{Name: in.Name, Path: abs}, err
}

// HashFile returns the SHA-256 of a file's content, in hexadecimal digits, and its length; of a folder,
// those of what its files are called and hold.
func HashFile(path string) (string, int64, error) {
	if entries, err := os.ReadDir(path); err == nil {
		return hashFolder(path, entries)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("hash file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return "", 0, fmt.Errorf("hash file %q: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

// hashFolder hashes names, lengths and contents of the files of a folder, in the order of their names.
func hashFolder(path string, entries []os.DirEntry) (string, int64, error) {
	h, all := sha256.New(), int64(0)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		sum, n, err := HashFile(filepath.Join(path, e.Name()))
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintf(h, "%q %d %s\n", e.Name(), n, sum)
		all += n
	}
	return hex.EncodeToString(h.Sum(nil)), all, nil
}
