package loop

import (
	"errors"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
)

// ChangeRequest asks for a change of the fabric.
type ChangeRequest struct {
	Change *controller.FabricChange
	// Refused gets the reason why it is not made; success shows in the state. Step calls it, so it must
	// not block; nil disables it.
	Refused func(error)
}

// changeFabric makes an entry of the first request that can be granted: another would be of the same
// generation.
func (l *Loop) changeFabric(s *state.State, now time.Duration, all []ChangeRequest) {
	made := false
	for _, r := range all {
		e := state.Entry{Kind: state.FabricChanged, At: now, Cluster: &state.Cluster{Fabric: r.Change}}
		err := s.CheckChange(r.Change)
		switch {
		case err == nil && made:
			err = errors.New("another change came at the same time: read the fabric again")
		case err == nil && !s.Admits(&e):
			err = ErrTooOld
		}
		if err == nil {
			made = true
			l.pass.add(e)
			l.pending.changed(now)
		} else if r.Refused != nil {
			r.Refused(err)
		}
	}
}

// ErrTooOld means that some replica is of a version that does not know what is asked for.
var ErrTooOld = errors.New("the cluster's feature level is below 4: upgrade all replicas and type lightloom cluster " +
	"raise-level")
