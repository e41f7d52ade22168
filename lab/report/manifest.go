package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lightloom/pathmap/plaintext"
)

// Manifest records what made a report, so that `lightloom rerun` can repeat it. It holds nothing of the machine; the
// places of files are in run.json.
type Manifest struct {
	Format   int       `json:"format"` // Format
	Version  string    `json:"version"`
	Commit   string    `json:"commit,omitempty"` // that the binary was built from; empty where the build does not say
	Changed  bool      `json:"work_tree_changed,omitempty"`
	Command  string    `json:"command"`  // replay or demo
	Settings []Setting `json:"settings"` // every flag, given or not, by name; auto is resolved
	Inputs   []Input   `json:"inputs,omitempty"`
	Seeds    []uint64  `json:"seeds"`
	Fabric   string    `json:"fabric"`                // in full
	Jobs     string    `json:"jobs_digest,omitempty"` // of the jobs as submitted under the first seed
}

// Format is the version of the format of reports and manifests. Readers refuse others.
const Format = 2

// lastOfFormat1 is the last version that reads reports of format 1, which have no format key.
const lastOfFormat1 = "0.1.1"

// Setting is a flag and its value.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
	Input bool   `json:"-"` // the value can name a file that the run reads
}

// Input is a file that a run read, identified by its content; the flag's setting holds only the name.
type Input struct {
	Flag   string `json:"flag"`
	Name   string `json:"name"` // without directories
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Place is where an input was found, for run.json.
type Place struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute
}

// Files of a report's directory.
const (
	reportFile = "report.json"
	runFile    = "run.json"
	pageFile   = "report.html"
)

// maxReport bounds a report that is read, in bytes: 2000 coflows of a hundred runs under ten policies stay below it.
const maxReport = 1 << 30

// Read reads a report: a report.json, or its directory. It refuses reports of another format and names the version that
// reads them.
func Read(path string) (*Report, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, reportFile)
	}
	if err := checkHead(path); err != nil {
		return nil, fmt.Errorf("read report %q: %w", path, err)
	}
	b, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	r, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("read report %q: %w", path, err)
	}
	if len(r.Policies) == 0 {
		return nil, fmt.Errorf("read report %q: it holds no policies: name a report.json that replay or demo wrote", path)
	}
	return r, nil
}

// checkHead refuses what begins like no report, before all of it is read.
func checkHead(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // said when it is read
	}
	defer f.Close()
	head := make([]byte, 1<<16)
	n, _ := io.ReadFull(plaintext.NewReader(f), head) // what is wrong is said then, too
	text := bytes.TrimSpace(head[:n])
	switch {
	case len(text) > 0 && text[0] != '{':
		return errors.New("line 1: it begins no JSON object: name a report.json that replay or demo wrote")
	case n == len(head) && !bytes.Contains(text, []byte(`"format"`)):
		return errors.New("it says no format: name a report.json that replay or demo wrote, or run it again")
	}
	return nil
}

// parse parses a report.json.
func parse(b []byte) (*Report, error) {
	var head struct {
		Format  int    `json:"format"`
		Version string `json:"version"`
	}
	if err := decode(b, &head, false); err != nil {
		return nil, err
	}
	if head.Format != Format {
		take := "take the version that wrote it"
		if head.Format < Format {
			take = "take version " + lastOfFormat1 + ", or run it again"
		}
		return nil, fmt.Errorf("it is of format %d, written by version %q, and this lightloom reads format %d: %s",
			max(head.Format, 1), head.Version, Format, take)
	}
	var r Report
	return &r, decode(b, &r, true)
}

// ReadRun reads the run.json of a report's directory.
func ReadRun(dir string) (*Run, error) {
	path := filepath.Join(dir, runFile)
	b, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	var r Run
	if err := decode(b, &r, false); err != nil {
		return nil, fmt.Errorf("read run %q: %w", path, err)
	}
	return &r, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxReport+1))
	if err == nil && len(b) > maxReport {
		err = fmt.Errorf("%q is longer than %d bytes: no report is", path, maxReport)
	}
	if err != nil {
		return nil, err
	}
	return plaintext.Of(b)
}

// decode reads one JSON value; errors name the line. strict refuses keys that v does not have.
func decode(b []byte, v any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", lineOf(b, syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: %w", lineOf(b, kind.Offset), err)
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle: it was cut short")
	case err != nil:
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %d: more follows the report", lineOf(b, d.InputOffset()))
	}
	return nil
}

func lineOf(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(int64(len(b)), max(0, offset))], []byte{'\n'})
}

// Check returns why a manifest cannot be run again, or nil.
func (m *Manifest) Check() error {
	switch {
	case m == nil:
		return errors.New("the report has no manifest: it was written before reports had one")
	case m.Format != Format:
		return fmt.Errorf("the manifest is of format %d, and this lightloom reads %d: take the version that wrote it (%q)",
			m.Format, Format, m.Version)
	case m.Command == "":
		return errors.New("the manifest names no command")
	}
	return nil
}
