package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// On packets decisions are taken in the replicas of the controller, by whichever leads. Where a run is to be explained,
// each of them writes a line the moment that it decides, at the end of one file that all share; the process inside reads
// the file when all jobs have ended. A leader that is killed leaves what it has said until then.

// whyName is the name of that file in the directory of the replicas.
const whyName = "why.jsonl"

// whyChunk is how many lines a word of the process inside holds at most.
const whyChunk = 256

// whyFile returns where replicas with their disks in dir say why, if they are to.
func (o *order) whyFile(dir string) string {
	if !o.Explain {
		return ""
	}
	return filepath.Join(dir, whyName)
}

// joinExplainer opens the file that replicas share, for what one of them decides in a term; an empty name opens none.
func joinExplainer(name string, by leadership) (*explainer, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("explain decisions: %w", err)
	}
	x := &explainer{file: f, lines: true, by: by}
	if _, err := f.WriteString("\n"); err != nil { // ends the line in which a leader before was killed
		x.err = err
	}
	return x, nil
}

// readWhy returns what replicas have said, begin being the instant 0 of the run, and how many lines their writers have
// not ended.
func readWhy(name string, begin time.Duration) (why []explained, cut int, err error) {
	all, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil // nobody has led
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read why tasks and flows went where they did: %w", err)
	}
	for line := range bytes.Lines(all) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var l explained
		if json.Unmarshal(line, &l) != nil {
			cut++
			continue
		}
		l.At = max(0, l.At-begin.Seconds())
		why = append(why, l)
	}
	return why, cut, nil
}

// explain tells what the replicas have said.
func (s *stage) explain(out *speaker, o *outcome, begin time.Duration) error {
	name := s.order.whyFile(s.replicas.dir)
	if name == "" {
		return nil
	}
	why, cut, err := readWhy(name, begin)
	if err != nil {
		return err
	}
	if cut > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%d lines of --explain were cut off by the end of the leader that wrote them", cut))
	}
	for len(why) > 0 {
		n := min(len(why), whyChunk)
		out.say(word{Why: why[:n]})
		why = why[n:]
	}
	return nil
}

// add writes what replicas have said.
func (x *explainer) add(why []explained) {
	if x == nil {
		return
	}
	for i := range why {
		x.say(&why[i])
	}
}
