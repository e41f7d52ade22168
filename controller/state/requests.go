package state

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
)

// Granted is a request and the id of what it got.
type Granted[ID controller.JobID | controller.BandwidthReservationID] struct {
	Request string        `json:"request"`
	ID      ID            `json:"id"`
	At      time.Duration `json:"at_ns"`
}

// requests finds granted requests by their ids. It follows from a list of Data, in the order of the log.
type requests[ID controller.JobID | controller.BandwidthReservationID] struct {
	got   map[string]ID
	tally setDigest
}

// granted are the requests that the state knows.
type granted struct {
	requests          requests[controller.JobID]
	bandwidthRequests requests[controller.BandwidthReservationID]
}

func index[ID controller.JobID | controller.BandwidthReservationID](all []Granted[ID]) requests[ID] {
	r := requests[ID]{got: map[string]ID{}}
	for i := range all {
		r.got[all[i].Request] = all[i].ID
		r.tally.add(&all[i])
	}
	return r
}

// grant appends an entry's request to the list, if it has one.
func (r *requests[ID]) grant(all []Granted[ID], e *Entry, id ID) []Granted[ID] {
	if e.Request == "" {
		return all
	}
	g := Granted[ID]{e.Request, id, e.At}
	r.got[e.Request] = id
	r.tally.add(&g)
	return append(all, g)
}

// forget takes out the requests at the front of the list that were granted before an instant.
func (r *requests[ID]) forget(all []Granted[ID], before time.Duration) []Granted[ID] {
	for len(all) > 0 && all[0].At < before {
		delete(r.got, all[0].Request)
		r.tally.take(&all[0])
		all = all[1:]
	}
	return all
}

// mostGap bounds by how much requests age from one batch to the next.
const mostGap = 10 * time.Second

// stepsLevel is the feature level from which on it does.
const stepsLevel Level = 6

// spareRequests keeps requests from ageing by a step of a leader's clock: callers whose answer was lost
// come again soon after, by their own clocks. was is the log's time before the batch.
func (s *State) spareRequests(was time.Duration) {
	by := s.d.At - was - mostGap
	if by <= 0 || s.d.Cluster != nil && s.Level() < stepsLevel {
		return
	}
	s.d.Requests = s.requests.later(s.d.Requests, was, by)
	s.d.BandwidthRequests = s.bandwidthRequests.later(s.d.BandwidthRequests, was, by)
}

// later has the requests granted up to an instant count as granted later. The list is a new one: frozen
// states share the old.
func (r *requests[ID]) later(all []Granted[ID], until, by time.Duration) []Granted[ID] {
	all = slices.Clone(all)
	for i := range all {
		if g := &all[i]; g.At <= until {
			r.tally.take(g)
			g.At += by
			r.tally.add(g)
		}
	}
	return all
}

// Requested returns the job that a request got, if it has one.
func (s *State) Requested(request string) (controller.JobID, bool) {
	id, known := s.requests.got[request]
	return id, known
}

// setDigest is the digest of a list that grows and shrinks by one element at a time: the sum of the
// elements' hashes.
type setDigest [4]uint64

func (t *setDigest) add(element any) { t.count(element, bits.Add64) }

func (t *setDigest) take(element any) { t.count(element, bits.Sub64) }

func (t *setDigest) count(element any, by func(x, y, carry uint64) (sum, out uint64)) {
	b, err := json.Marshal(element)
	if err != nil {
		panic("state: " + err.Error()) // Data holds nothing that JSON refuses
	}
	h, carry := sha256.Sum256(b), uint64(0)
	for i := range t {
		t[i], carry = by(t[i], binary.LittleEndian.Uint64(h[8*i:]), carry)
	}
}
