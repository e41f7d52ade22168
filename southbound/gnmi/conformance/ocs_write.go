package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// setting tries to configure a leaf of the switch, and puts it back. It returns whether it was taken.
func (b *bench) setting(ctx context.Context, leaf string, value, before schema.Value) (bool, error) {
	at := schema.Path(nil).With("optical-switch", "config", leaf)
	put := func(v schema.Value) error {
		tv, err := schema.JSON(v, gpb.Encoding_JSON_IETF)
		if err != nil {
			return err
		}
		_, err = b.c.Set(ctx, &gpb.SetRequest{Update: []*gpb.Update{{Path: at.Proto(), Val: tv}}})
		return err
	}
	if put(value) != nil {
		return false, nil
	}
	if before == nil {
		_, err := b.c.Set(ctx, &gpb.SetRequest{Delete: []*gpb.Path{at.Proto()}})
		return true, err
	}
	return true, put(before)
}

func ocpRecovery(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	best := recoveryRank(fmt.Sprint(t.global["state/connection-recovery-capability"]))
	tried := 0
	for _, mode := range []string{"RESTORE", "MAINTAIN"} {
		if recoveryRank(mode) <= best {
			continue // in one of the readings of the capability it is supported
		}
		tried++
		taken, err := b.setting(ctx, "cold-boot-recovery", mode, t.global["config/cold-boot-recovery"])
		if err != nil {
			return err
		}
		if taken {
			return fmt.Errorf("%s was taken, and %v is advertised", mode, t.global["state/connection-recovery-capability"])
		}
	}
	if tried == 0 {
		return fmt.Errorf("%w: every mode is advertised", errSkip)
	}
	return nil
}

// offered sends a connection that cannot be, and takes it away again. A device refuses it, or has it as INVALID.
func (b *bench) offered(ctx context.Context, name, in, out string) error {
	r := &ocpRequest{}
	b.create(r, name, in, out)
	if b.send(ctx, r) != nil {
		return nil
	}
	err := b.becomes(ctx, name, "INVALID")
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultTimeout)
	defer cancel()
	_, derr := b.c.Set(clean, &gpb.SetRequest{Delete: []*gpb.Path{gnmi.ConnectionPath(name).Proto()}})
	return errors.Join(err, derr)
}

// becomes waits for a status of a connection; "" is no state at all. Any final status but that one ends it.
func (b *bench) becomes(ctx context.Context, name, want string) error {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		t, err := b.tree(ctx)
		if err != nil {
			return err
		}
		got, _ := t.connections[name]["state/status"].(string)
		switch {
		case got == want:
			return nil
		case got == "CONNECTED" || got == "INVALID" || got == "FAILED":
			return fmt.Errorf("connection %q is %s, want %q", name, got, want)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("connection %q is %q, and never %q", name, got, want)
		}
	}
}

// checkName is the beginning of the names of the check's own connections.
const checkName = "lightloom check "

func ocpDirections(ctx context.Context, b *bench) error {
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	x, err := b.freePair(ctx)
	if err != nil {
		return err
	}
	in, out := ends(x)
	group := fmt.Sprint(t.ports[in]["state/group"])
	if t.directions[group] != "INPUT-ONLY" {
		return fmt.Errorf("%w: inputs can be outputs", errSkip)
	}
	if err := b.offered(ctx, checkName+"direction", out, in); err != nil {
		return fmt.Errorf("%s as an output: %w", in, err)
	}
	return nil
}

// freePair returns an input and an output that have no circuit.
func (b *bench) freePair(ctx context.Context) (southbound.CrossConnect, error) {
	do, _, err := b.sampleChange(ctx, 0)
	if err != nil {
		return southbound.CrossConnect{}, err
	}
	return do.Connect[0], nil
}

func ocpGroupNames(ctx context.Context, b *bench) error {
	before, err := b.tree(ctx)
	if err != nil {
		return err
	}
	return b.withCircuits(ctx, 1, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if _, _, err := w.until(xs[0], southbound.Connected); err != nil {
			return err
		}
		after, err := b.tree(ctx)
		if err == nil && !maps.Equal(before.directions, after.directions) {
			err = fmt.Errorf("groups were %v, and are %v", before.directions, after.directions)
		}
		return err
	})
}

// withNamed makes a connection of a name of its own and takes it away again.
func (b *bench) withNamed(ctx context.Context, name string, run func(x southbound.CrossConnect) error) error {
	x, err := b.freePair(ctx)
	if err != nil {
		return err
	}
	r := &ocpRequest{}
	in, out := ends(x)
	b.create(r, name, in, out)
	if err := b.send(ctx, r); err != nil {
		return err
	}
	err = b.becomes(ctx, name, "CONNECTED")
	if err == nil {
		err = run(x)
	}
	return errors.Join(err, b.unmake(ctx, name))
}

// unmake deletes a connection, and waits until nothing of it is shown.
func (b *bench) unmake(ctx context.Context, name string) error {
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultTimeout)
	defer cancel()
	if _, err := b.c.Set(clean, &gpb.SetRequest{Delete: []*gpb.Path{gnmi.ConnectionPath(name).Proto()}}); err != nil {
		return fmt.Errorf("take connection %q away again: %w", name, err)
	}
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		t, err := b.tree(clean)
		if err != nil || t.connections[name] == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-clean.Done():
			return fmt.Errorf("connection %q was deleted, and stays as %v", name, t.connections[name])
		}
	}
}

func ocpNames(ctx context.Context, b *bench) error {
	const name = checkName + "name"
	return b.withNamed(ctx, name, func(x southbound.CrossConnect) error {
		t, err := b.tree(ctx)
		if err != nil {
			return err
		}
		in, out := ends(x)
		c := t.connections[name]
		for _, where := range []string{"config/", "state/"} {
			for leaf, want := range map[string]string{"name": name, "input-port-name": in, "output-port-name": out} {
				if c[where+leaf] != want {
					return fmt.Errorf("%s%s of connection %q is %v, want %q", where, leaf, name, c[where+leaf], want)
				}
			}
		}
		return nil
	})
}

func ocpTimes(ctx context.Context, b *bench) error {
	const first, second = checkName + "a", checkName + "b"
	return b.withNamed(ctx, first, func(southbound.CrossConnect) error {
		before, err := b.tree(ctx)
		if err != nil {
			return err
		}
		return b.withNamed(ctx, second, func(southbound.CrossConnect) error {
			after, err := b.tree(ctx)
			if err != nil {
				return err
			}
			own, others := before.connections[first]["state/last-updated"], after.connections[first]["state/last-updated"]
			changed, last := before.global["connections/last-change-time"], after.global["connections/last-change-time"]
			switch {
			case last == nil || after.connections[second]["state/last-updated"] == nil:
				return errors.New("last-change-time or last-updated is missing")
			case last == changed:
				return fmt.Errorf("last-change-time stays at %v when another connection comes", last)
			case own != others:
				return fmt.Errorf("last-updated moves from %v to %v when another connection comes", own, others)
			}
			return nil
		})
	})
}

func ocpPasses(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 1, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		before, _, err := w.until(xs[0], southbound.Connected)
		if err == nil && !slices.Equal(before, []southbound.Status{southbound.PendingConnection}) {
			err = fmt.Errorf("before it was CONNECTED it was %v", before)
		}
		if err != nil {
			return err
		}
		off := southbound.CrossConnect{In: xs[0].In, Out: xs[0].Out, Off: true}
		if err := b.connect(ctx, off); err != nil {
			return err
		}
		before, _, err = w.until(xs[0], southbound.Disconnected)
		if err == nil && !slices.Equal(before, []southbound.Status{southbound.PendingDeletion}) {
			err = fmt.Errorf("before it was gone it was %v", before)
		}
		return err
	})
}

func ocpPeerReadOnly(ctx context.Context, b *bench) error {
	x, err := b.freePair(ctx)
	if err != nil {
		return err
	}
	in, out := ends(x)
	at := schema.Path(nil).With("components").Entry("component", "name", in).With("ocp-ocs-port", "state", "connection",
		"peer")
	if b.update(ctx, at.Proto(), fmt.Sprintf("%q", out)) == nil {
		return fmt.Errorf("%s was taken", at)
	}
	return nil
}

// ofPorts looks at both ports of a connection while it stands, and after.
func (b *bench) ofPorts(ctx context.Context, look func(in, out map[string]schema.Value, inName, outName string,
	stands bool) error) error {
	const name = checkName + "ports"
	var inName, outName string
	view := func(stands bool) error {
		t, err := b.tree(ctx)
		if err != nil {
			return err
		}
		return look(t.ports[inName], t.ports[outName], inName, outName, stands)
	}
	err := b.withNamed(ctx, name, func(x southbound.CrossConnect) error {
		inName, outName = ends(x)
		return view(true)
	})
	if err != nil {
		return err
	}
	return view(false)
}

func ocpPeers(ctx context.Context, b *bench) error {
	return b.ofPorts(ctx, func(in, out map[string]schema.Value, inName, outName string, stands bool) error {
		const peer, connected = "state/connection/peer", "state/connection/connected"
		switch {
		case stands && (in[peer] != outName || out[peer] != inName):
			return fmt.Errorf("%s names %v and %s names %v while they are connected", inName, in[peer], outName, out[peer])
		case stands && (in[connected] != true || out[connected] != true):
			return fmt.Errorf("connected is %v at %s and %v at %s", in[connected], inName, out[connected], outName)
		case !stands && (in[peer] == outName || out[peer] == inName):
			return fmt.Errorf("%s names %v and %s names %v after the end", inName, in[peer], outName, out[peer])
		}
		return nil
	})
}

func ocpPortStatus(ctx context.Context, b *bench) error {
	return b.ofPorts(ctx, func(in, out map[string]schema.Value, inName, outName string, stands bool) error {
		want := "BLOCKED"
		if stands {
			want = "TUNED"
		}
		if in["state/status"] != want || out["state/status"] != want {
			return fmt.Errorf("%s is %v and %s is %v, want %s", inName, in["state/status"], outName, out["state/status"], want)
		}
		return nil
	})
}

func ocpCounters(ctx context.Context, b *bench) error {
	return b.ofPorts(ctx, func(in, out map[string]schema.Value, inName, outName string, stands bool) error {
		for _, leaf := range []string{"correctable-error-count", "total-error-count"} {
			for name, port := range map[string]map[string]schema.Value{inName: in, outName: out} {
				n, _ := port["state/connection/counters/"+leaf].(uint64)
				if stands && n != 0 {
					return fmt.Errorf("%s of %s begins at %d", leaf, name, n)
				}
			}
		}
		return nil
	})
}

func ocpWhole(ctx context.Context, b *bench) error {
	x, err := b.freePair(ctx)
	if err != nil {
		return err
	}
	const good, bad = checkName + "good", checkName + "bad"
	r := &ocpRequest{}
	in, out := ends(x)
	b.create(r, good, in, out)
	b.create(r, bad, "no such port", "nor this")
	refused := b.send(ctx, r) != nil
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	if refused {
		if t.connections[good] != nil || t.connections[bad] != nil {
			return errors.Join(errors.New("the request was refused, and a part of it done"), b.unmake(ctx, good))
		}
		return nil
	}
	return errors.Join(b.becomes(ctx, bad, "INVALID"), b.becomes(ctx, good, "CONNECTED"), b.unmake(ctx, bad),
		b.unmake(ctx, good))
}

func ocpAgain(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 3, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0], xs[1]); err != nil {
			return err
		}
		left := map[southbound.Port]bool{xs[0].In: true, xs[1].In: true}
		for len(left) > 0 {
			events, _, err := w.next()
			if err != nil {
				return err
			}
			for _, e := range events {
				if e.Status == southbound.Connected {
					delete(left, e.In)
				}
			}
		}
		r := &ocpRequest{}
		for _, x := range []southbound.CrossConnect{xs[1], xs[0]} { // in the other order
			in, out := ends(x)
			b.create(r, gnmi.ConnectionName(x.In, x.Out), in, out)
		}
		if err := b.send(ctx, r); err != nil {
			return err
		}
		return w.only(ctx, xs[2])
	})
}

func ocpUndisturbed(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 2, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if _, _, err := w.until(xs[0], southbound.Connected); err != nil {
			return err
		}
		in, _ := ends(xs[1])
		_, taken := ends(xs[0])
		if err := b.offered(ctx, checkName+"busy", in, taken); err != nil {
			return err
		}
		if err := w.only(ctx, xs[1]); err != nil {
			return err
		}
		t, err := b.tree(ctx)
		if got := t.connections[gnmi.ConnectionName(xs[0].In, xs[0].Out)]["state/status"]; err == nil && got != "CONNECTED" {
			err = fmt.Errorf("the other connection is %v", got)
		}
		return err
	})
}

func ocpMoves(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 2, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if _, _, err := w.until(xs[0], southbound.Connected); err != nil {
			return err
		}
		r := &ocpRequest{}
		in, _ := ends(xs[1])
		_, out := ends(xs[0])
		moved := gnmi.ConnectionName(xs[1].In, xs[0].Out)
		b.create(r, moved, in, out)
		r.req.Delete = []*gpb.Path{gnmi.ConnectionPath(gnmi.ConnectionName(xs[0].In, xs[0].Out)).Proto()}
		if err := b.send(ctx, r); err != nil {
			return err
		}
		return b.becomes(ctx, moved, "CONNECTED")
	})
}

func ocpRemoved(ctx context.Context, b *bench) error {
	var x southbound.CrossConnect
	err := b.withNamed(ctx, checkName+"removed", func(y southbound.CrossConnect) error { x = y; return nil })
	if err != nil {
		return err
	}
	t, err := b.tree(ctx)
	if err != nil {
		return err
	}
	in, out := ends(x)
	for _, port := range []string{in, out} {
		if p := t.ports[port]; p["state/connection/connected"] == true || p["state/status"] == "TUNED" {
			return fmt.Errorf("%s is %v after the end", port, p["state/status"])
		}
	}
	return nil
}
