package slicing

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"lightloom/cmd/lightloom-kube/northbound"
)

// Slice is the public resource, as far as it is used here.
type Slice struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status"`
}

// Spec is what a Slice asks for.
type Spec struct {
	Type         string   `json:"type"`                   // of the accelerator; no decision uses it
	Topology     string   `json:"topology"`               // as 4x4x8
	PartitionIDs []string `json:"partitionIds,omitempty"` // cubes, in x-major order; none: wherever there is room
}

// Status is what has become of a Slice.
type Status struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Finalizer keeps a Slice until its circuits were freed.
const Finalizer = "lightloom/slice"

// The conditions of a Slice. Reasons of the first are public; those of the second are the controller's, where it
// has the slice, and else the first's.
const (
	Ready = "Ready"
	Lit   = "lightloom/CircuitsReady"
)

// OfOthers is the second condition's reason where somebody else's slice has the name of the Slice's.
const OfOthers = "SliceOfOthers"

// The reasons of condition Ready: the public ones.
const (
	NotCreated     = "SliceNotCreated"
	CreationFailed = "SliceCreationFailed"
	Activating     = "ACTIVATING"
	Active         = "ACTIVE"
	Incomplete     = "INCOMPLETE"
	Failed         = "FAILED"
	Deactivating   = "DEACTIVATING"
)

// prefix begins the names of slices that are Slices'.
const prefix = "slice-"

// Name returns the name of a Slice's slice.
func Name(uid types.UID) string { return prefix + string(uid) }

// Is reports whether a slice of that name is a Slice's.
func Is(name string) bool { return strings.HasPrefix(name, prefix) }

// Partition returns the id of a cube.
func Partition(cube int) string { return "cube" + strconv.Itoa(cube) }

// request returns what the controller is asked for. Its id is the owner's: else it would be the answer to another's.
func request(s *Slice, owner string, hosts []northbound.Host) (northbound.Request, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(owner)) // it never fails
	r := northbound.Request{ID: fmt.Sprintf("%s-%x", Name(s.UID), h.Sum64()), Name: Name(s.UID), Shape: s.Spec.Topology,
		Owner: owner}
	cubes := 0
	for _, h := range hosts {
		cubes = max(cubes, h.Rack+1)
	}
	for _, id := range s.Spec.PartitionIDs {
		n, err := strconv.Atoi(strings.TrimPrefix(id, "cube"))
		switch {
		case err != nil || Partition(n) != id || n < 0 || n >= cubes:
			return r, fmt.Errorf("partition %.40q is not there: write cube0 to cube%d", id, cubes-1)
		case slices.Contains(r.Cubes, n):
			return r, fmt.Errorf("partition %s is named twice", id)
		}
		r.Cubes = append(r.Cubes, n)
	}
	return r, nil
}
