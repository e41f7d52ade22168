package policytest

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/controller"
)

// checkMoved checks a placement that moves tasks of a running job: those that it names and no other,
// none that has ended, to slots that are free.
func checkMoved(v *controller.View, p *controller.Placement, free []int32) error {
	i := slices.IndexFunc(v.Running, func(r controller.Running) bool { return r.Job.ID == p.Job })
	if i < 0 || len(v.Running[i].Hosts) != len(p.Hosts) {
		return errors.New("it does not run, or has other tasks")
	}
	r := &v.Running[i]
	for t, h := range p.Hosts {
		switch _, named := slices.BinarySearch(p.Move, int32(t)); {
		case named != (h != r.Hosts[t]):
			return fmt.Errorf("task %d from host %d to %d, named: %v", t, r.Hosts[t], h, named)
		case !named:
		case h < 0 || int(h) >= len(free) || slices.Contains(v.Lost, h) || r.Tasks[t].Ended >= 0:
			return fmt.Errorf("task %d on host %d", t, h)
		default:
			free[r.Hosts[t]]++
			free[h]--
		}
	}
	if least := slices.Min(free); least < 0 {
		return fmt.Errorf("a host has %d slots left", least)
	}
	return nil
}
