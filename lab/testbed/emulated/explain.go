package emulated

import (
	"fmt"
	"path/filepath"

	"lightloom/controller/explain"
	"lightloom/lab/outcome"
)

// On packets decisions are taken in the replicas of the controller, by whichever leads. Where a run is
// to be explained, each of them writes a line the moment that it decides, at the end of one file that
// all share; the process inside reads the file when all jobs have ended. A leader that is killed leaves
// what it has said until then.

// WhyName is the name of the file of explanations in the directory of the replicas.
const WhyName = "why.jsonl"

// whyChunk is the most lines in one event of the process inside.
const whyChunk = 256

// whyFile returns the file of explanations of replicas with their disks in dir; empty where nothing
// reads it.
func (o *ChildConfig) whyFile(dir string) string {
	if o.Stay && o.Rules.Explain == "" {
		return ""
	}
	return filepath.Join(dir, WhyName)
}

// explain reads what is proven of routes and, where the run is to be explained, sends the replicas'
// explanations to the parent.
func (s *Testbed) explain(out *speaker, o *outcome.Outcome) error {
	name := s.Config.whyFile(s.Cluster.State.Dir)
	if name == "" {
		return nil
	}
	why, cut, err := explain.Read(name, s.Remote.Begin)
	if err != nil {
		return err
	}
	o.Proofs = outcome.ProofsIn(why)
	if s.Config.Rules.Explain == "" {
		return nil
	}
	if cut > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%d lines of --explain were cut off by the end of the leader that wrote them",
			cut))
	}
	for len(why) > 0 {
		n := min(len(why), whyChunk)
		out.say(Event{Why: why[:n]})
		why = why[n:]
	}
	return nil
}
