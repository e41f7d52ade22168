package replica

// Learner is a node that takes its place in an existing cluster with an empty log: its disk was lost,
// or it is a new machine under an old name. It does not know what its predecessor acknowledged and whom
// it voted for. So it neither votes nor stands until it holds all that the cluster had committed, and
// follows no leader before it knows the others' terms (see package rollcall).
type Learner struct {
	// Done is called once the node holds what it must; if it returns nil the node votes from then on.
	Done func() error
}
