package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/controller"
)

// Level is a feature level: which kinds of entries the log of a cluster can hold. A cluster has one,
// which only rises, and by an entry, so every replica knows at each entry what may come. A replica of a
// newer version keeps to it: it refuses entries of kinds above, as one refuses them that does not know
// them.
//
// What version 1 writes stays as it is: entries are a JSON array, kinds and keys keep their numbers and
// names, and a snapshot of a level has the same bytes in all versions. A kind, or a key of a kind or of
// the snapshot, that comes later has a level above all before it.
type Level uint8

// ErrLevel marks an entry of a kind above the cluster's level. It changes nothing, on any replica.
var ErrLevel = errors.New("above the cluster's feature level")

// ErrNewer marks what needs a newer version of this program: the cluster has risen above the level that
// this one knows.
var ErrNewer = errors.New("this version does not know the cluster's feature level: start a newer one")

// Level returns the level at which a kind came.
func (k Kind) Level() Level {
	switch {
	case k >= maxKind:
		return ^Level(0)
	case k == TaskResized || k == SliceSet || k == SliceDeleted:
		return BlocksLevel
	case k == FabricChanged || k == RetentionSet:
		return 4
	case k == MembersForgotten:
		return 2
	}
	return 1
}

// BlocksLevel is the level from which on jobs say where blocks lie and tasks read them over the network, the vCPUs of
// running tasks change, and pods have slices.
const BlocksLevel Level = 8

// RingsLevel is the level from which on fabrics that are no pods have slices, which are rings of racks, jobs ask for
// slices, and jobs say how much each reducer receives.
const RingsLevel Level = 9

// PinnedLevel is the level from which on jobs name the hosts of their tasks, and flows between tasks.
const PinnedLevel Level = 10

// RacksLevel is the level from which on slices are of racks with several circuits each, over several optical switches.
const RacksLevel Level = 11

// rereadLevel is the level from which on what is to be carried again waits again where its hosts are lost once more,
// and what a job reads by a shuffle is carried again to the byte.
const rereadLevel Level = 12

// level is that of an entry's kind, or of a key that came later: loads of tasks, vCPUs, what jobs read,
// and where blocks lie and are read from.
func (e *Entry) level() Level {
	if e.Slice != nil && e.Slice.Shape.Racks > 0 || e.Job != nil && strings.HasPrefix(e.Job.Slice, "racks=") {
		return RacksLevel
	}
	if e.Job != nil && (e.Job.Pinned() || slices.ContainsFunc(e.Job.Edges,
		func(x controller.Edge) bool { return x.Kind == controller.Pairs })) {
		return PinnedLevel
	}
	if e.Slice != nil && e.Slice.Ring != nil || e.Job != nil && (e.Job.Slice != "" || e.Job.Skewed()) {
		return RingsLevel
	}
	if e.Job != nil && e.Job.NamesReplicas() || e.Placement != nil && e.Placement.ReadFrom != nil {
		return BlocksLevel
	}
	loads := e.Job != nil && (e.Job.Limits != nil || e.Job.Malleable() || slices.ContainsFunc(e.Job.Stages,
		func(s controller.Stage) bool { return s.Efficiency != nil }))
	if loads || e.Job != nil && e.Job.Reading() || e.Placement != nil && e.Placement.MilliVCPUs != nil {
		return 3
	}
	return e.Kind.Level()
}

// Admits reports whether an entry of those keys may be logged at the cluster's level.
func (s *State) Admits(e *Entry) bool { return !errors.Is(s.admit(e), ErrLevel) }

// admit reports why an entry is refused whatever it says.
func (s *State) admit(e *Entry) error {
	need := e.Kind.Level()
	switch { // without a cluster, as on the simulator, there is no other version
	case s.d.Cluster != nil:
		need = e.level()
	case e.Kind == TaskResized || e.Kind == SliceSet || e.Kind == SliceDeleted:
		need = 1
	}
	if need > s.Level() {
		return fmt.Errorf("%v: %w %d", e.Kind, ErrLevel, s.Level())
	}
	return e.wellFormed()
}

// Knows returns the level that this version knows.
func (s *State) Knows() Level { return s.knows }

// Level returns the cluster's level.
func (s *State) Level() Level {
	if c := s.d.Cluster; c != nil {
		return c.Level
	}
	return 1
}
