package loop

import (
	"slices"
	"time"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// devices is what is known of switches: whether they answer, and how far they are from holding what
// they should.
type devices struct {
	unread      map[southbound.DeviceID]repair // those that are not known to hold what they should
	later       []laterRead
	away        map[southbound.DeviceID]bool // their stream has ended and has not begun again
	giveUp      time.Duration                // when to go on without those that do not answer
	fastReroute fastReroute                  // the urgent Sets without an answer yet
}

// repair is how far a device is on its way to what it should hold.
type repair struct {
	token uint64 // of the Set that is to bring it there, 0 while there is none
	tries int    // Sets so far
	told  bool   // it held what it should before, and no Set since has failed: what it will hold is known
	// behind is what it will hold once it has answered, where that is not what it should any more; nil: it is.
	behind []southbound.Rule
}

// laterRead is a device to be read at an instant.
type laterRead struct {
	device southbound.DeviceID
	at     time.Duration
}

func newDevices() devices {
	return devices{unread: map[southbound.DeviceID]repair{}, away: map[southbound.DeviceID]bool{}}
}

// ready reports whether every device holds what it should, or the wait for devices is over.
func (d *devices) ready(now time.Duration) bool { return len(d.unread) == 0 || now >= d.giveUp }

// answered notes the answer to a Set. It returns whether a caller waits for it, and what was known of
// the device before.
func (d *devices) answered(done *SetDone) (r repair, awaited bool) {
	r, unread := d.unread[done.Device]
	if awaited = unread && r.token == done.Token; awaited {
		r.token = 0
		d.unread[done.Device] = r
	}
	if unread && done.Err != nil {
		r.told, r.behind = false, nil
		d.unread[done.Device] = r
	}
	return r, awaited
}

// known reports whether the contents of a device are known: it holds what it should, or will once it
// has answered.
func (d *devices) known(id southbound.DeviceID) bool {
	r, unsure := d.unread[id]
	return (!unsure || r.told) && !d.away[id]
}

// postpone defers changes for a device that has still to answer, and reports whether it does: it
// remembers what the device will hold by then.
func (d *devices) postpone(id southbound.DeviceID, held []southbound.Rule) bool {
	r := d.unread[id]
	if !r.told || r.token == 0 {
		return false
	}
	if r.behind == nil {
		r.behind = held
		d.unread[id] = r
	}
	return true
}

// readLater has a device read at an instant, unless it is to be read already.
func (d *devices) readLater(id southbound.DeviceID, at time.Duration) {
	if !slices.ContainsFunc(d.later, func(r laterRead) bool { return r.device == id }) {
		d.later = append(d.later, laterRead{id, at})
	}
}

// readDue has the devices read whose instant has come.
func (d *devices) readDue(now time.Duration, p *pass) {
	if len(d.later) == 0 {
		return
	}
	d.later = slices.DeleteFunc(d.later, func(r laterRead) bool {
		due := now >= r.at
		if due {
			p.read(r.device)
		}
		return due
	})
}

// nextRead is when a device is to be read next.
func (d *devices) nextRead() time.Duration {
	at := southbound.Never
	for _, r := range d.later {
		at = min(at, r.at)
	}
	return at
}

// bring sends a change that is to bring a device into its state; the device is read back after the answer.
func (l *Loop) bring(d southbound.DeviceID, c southbound.Change) {
	if c.Empty() {
		return
	}
	token := l.circuits.mover.Token()
	l.devices.unread[d] = repair{token: token, tries: l.devices.unread[d].tries + 1}
	l.pass.act.Sets = append(l.pass.act.Sets, rollout.Set{Device: d, Token: token, Change: c})
}

// send sends changes to a device whose contents are known. A device with an unanswered Set gets them
// afterwards, in one Set for all failures meanwhile; but not where circuits have rules of their own,
// which moves change.
func (l *Loop) send(d southbound.DeviceID, wanted, held []southbound.Rule) {
	if !l.fabric.HasOCS() && l.devices.postpone(d, held) {
		return
	}
	if c := rollout.Diff(wanted, held); !c.Empty() {
		l.bring(d, c)
		l.devices.unread[d] = repair{token: l.devices.unread[d].token, tries: 1, told: true}
	}
}

// catchUp sends a device that has answered what has changed meanwhile, and reports whether anything has.
func (l *Loop) catchUp(now time.Duration, d southbound.DeviceID, held []southbound.Rule) bool {
	l.devices.unread[d] = repair{tries: l.devices.unread[d].tries, told: true}
	act := &l.pass.act
	at := len(act.Sets)
	l.send(d, l.base.Rules(d, nil), held)
	sets := act.Sets[at:]
	act.Urgent = append(act.Urgent, sets...)
	act.Sets = act.Sets[:at]
	l.devices.fastReroute.begin(now, sets)
	return len(sets) > 0
}
