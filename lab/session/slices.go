package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/torus"
	"lightloom/lab/console"
	"lightloom/lab/northbound"
	"lightloom/southbound/hint"
)

// SliceStatus is a slice.
type SliceStatus struct {
	Name     string   `json:"name"`
	Owner    string   `json:"owner,omitempty"`
	Shape    string   `json:"shape"`
	State    string   `json:"state"`
	Reason   string   `json:"reason"`
	Message  string   `json:"message,omitempty"`
	Hosts    []string `json:"hosts,omitempty"` // of a slice of hosts
	Cubes    []int32  `json:"cubes,omitempty"` // or racks, of a fabric that is no pod
	Swaps    int32    `json:"swaps"`
	Circuits int32    `json:"circuits"`
	Dark     int32    `json:"dark"`
	Asked    int64    `json:"asked_ns"` // of the run
	Since    int64    `json:"since_ns"` // when it came to its state
	Ready    int64    `json:"ready_ns"` // when it was Ready first; 0: not yet
}

// SliceOptions are the options of the commands slice create, delete, list, explain and watch.
type SliceOptions struct {
	To     northbound.Flags
	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// ErrNotReady is a slice that did not become Ready while a command waited.
var ErrNotReady = errors.New("it is not Ready")

func (o SliceOptions) dial() (*api.Client, error) { return Dial(o.To) }

// CreateSlice asks for a slice, and with wait above zero waits that long until it is Ready.
func (o SliceOptions) CreateSlice(ctx context.Context, r api.SliceRequest, wait time.Duration) error {
	client, err := o.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := needLeader(ctx, client, "create a slice", electsWithin); err != nil {
		return err
	}
	r.Request = api.NewRequestID()
	got, err := client.CreateSlice(ctx, r)
	if err != nil {
		return northbound.WithStatus(err)
	}
	if got, err = followSlice(ctx, client, got, decides, func(s *apiv1.Slice) bool {
		return s.Reason != string(torus.JustAsked)
	}); err == nil && wait > 0 {
		got, err = awaitReady(ctx, client, got, wait)
	}
	if err != nil {
		return err
	}
	if got.State == string(torus.Failed) {
		return hint.New(got.Message, "lightloom slice delete "+got.Name+" forgets it; then ask for what is nearest")
	}
	return o.print([]*apiv1.Slice{got})
}

// decides is how long a controller has to decide about a slice before a command says what it knows.
const decides = 2 * time.Second

// awaitReady follows a slice until it is Ready or Failed.
func awaitReady(ctx context.Context, client *api.Client, x *apiv1.Slice, wait time.Duration) (*apiv1.Slice, error) {
	done := func(s *apiv1.Slice) bool { return s.State == string(torus.Ready) || s.State == string(torus.Failed) }
	x, err := followSlice(ctx, client, x, wait, done)
	if err != nil || done(x) {
		return x, err
	}
	return x, hint.Wrap(fmt.Errorf("slice %q after %v: %w: %s, %s", x.Name, wait, ErrNotReady, x.State, x.Reason),
		"lightloom slice explain "+x.Name)
}

// followSlice follows a slice until something is so, or the wait is over.
func followSlice(ctx context.Context, client *api.Client, x *apiv1.Slice, wait time.Duration,
	done func(*apiv1.Slice) bool) (*apiv1.Slice, error) {
	if done(x) {
		return x, nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	found := errors.New("found")
	err := client.WatchSlices(ctx, func(c *apiv1.SlicesChanged) error {
		for _, s := range c.Slices {
			if s.Name == x.Name {
				x = s
			}
		}
		if done(x) {
			return found
		}
		return nil
	})
	if err != nil && !errors.Is(err, found) {
		return x, northbound.WithStatus(err)
	}
	return x, nil
}

// Defragment lists the slices that would have to move so that a shape fits, and with apply moves them.
func (o SliceOptions) Defragment(ctx context.Context, shape torus.Shape, apply bool) error {
	client, err := o.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := needLeader(ctx, client, "defragment slices", electsWithin); err != nil {
		return err
	}
	got, err := client.DefragmentSlices(ctx, shape, apply)
	if err != nil {
		return northbound.WithStatus(err)
	}
	out := Defragmented{Shape: shape.String(), Fits: got.Fits, Done: got.Done, Nodes: got.Nodes, Bound: got.Bound,
		Message: got.Message, Moves: []MovedSlice{}}
	for _, m := range got.Moves {
		out.Moves = append(out.Moves, MovedSlice{m.Name, m.From, m.To, m.Nodes})
	}
	if o.Output == console.OutputJSON {
		return console.WriteJSON(o.Stdout, out)
	}
	_, err = fmt.Fprint(o.Stdout, out)
	return err
}

// Defragmented is moves of slices that make room for a shape.
type Defragmented struct {
	Shape   string       `json:"shape"`
	Fits    bool         `json:"fits"`
	Done    bool         `json:"done"`
	Nodes   int32        `json:"nodes"`
	Bound   int32        `json:"bound"`
	Message string       `json:"message,omitempty"`
	Moves   []MovedSlice `json:"moves"`
}

// MovedSlice is a slice that goes from some cubes to others.
type MovedSlice struct {
	Name  string  `json:"name"`
	From  []int32 `json:"from"`
	To    []int32 `json:"to"`
	Nodes int32   `json:"nodes"`
}

func (d Defragmented) String() string {
	if len(d.Moves) == 0 {
		return d.Shape + ": " + d.Message + "\n"
	}
	var b strings.Builder
	verb := "would move"
	if d.Done {
		verb = "moves"
	}
	for _, m := range d.Moves {
		fmt.Fprintf(&b, "slice %s %s from the cubes %v to %v, %d nodes\n", m.Name, verb, m.From, m.To, m.Nodes)
	}
	fmt.Fprintf(&b, "%s fits then; %d nodes are moved, of %d that any moves move at least\n", d.Shape, d.Nodes, d.Bound)
	if !d.Done {
		b.WriteString("--apply moves them\n")
	}
	return b.String()
}

// DeleteSlice ends a slice.
func (o SliceOptions) DeleteSlice(ctx context.Context, name string) error {
	client, err := o.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := needLeader(ctx, client, "delete a slice", electsWithin); err != nil {
		return err
	}
	if err := client.DeleteSlice(ctx, name); err != nil {
		if api.CodeOf(err) == api.Unknown {
			err = hint.Wrap(err, "lightloom slice list shows them")
		}
		return northbound.WithStatus(err)
	}
	if o.Output == console.OutputJSON {
		return console.WriteJSON(o.Stdout, SliceStatus{Name: name})
	}
	_, err = fmt.Fprintf(o.Stdout, "slice %s has ended\n", name)
	return err
}

// ListSlices lists all slices that the caller may read.
func (o SliceOptions) ListSlices(ctx context.Context) error {
	client, err := o.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := client.Slices(ctx, api.Read{})
	if err != nil {
		return northbound.WithStatus(err)
	}
	if len(all) == 0 && o.Output != console.OutputJSON {
		_, err := fmt.Fprintln(o.Stdout, "no slices")
		return err
	}
	return o.print(all)
}

// ExplainSlice says why a slice is in its state: where it waits, what would have to end.
func (o SliceOptions) ExplainSlice(ctx context.Context, name string) error {
	client, err := o.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	x, err := client.Slice(ctx, name, api.Read{})
	if api.CodeOf(err) == api.Unknown {
		err = hint.Wrap(err, "lightloom slice list shows them")
	}
	if err != nil {
		return northbound.WithStatus(err)
	}
	if o.Output == console.OutputJSON {
		return console.WriteJSON(o.Stdout, statusOf(x))
	}
	_, err = fmt.Fprintf(o.Stdout, "slice %s of shape %s is %s: %s\n", x.Name, x.Shape, x.State, x.Reason)
	if err == nil && x.Message != "" {
		_, err = fmt.Fprintln(o.Stdout, x.Message)
	}
	return err
}

// WatchSlices prints all slices, and again whenever one has changed, until ctx ends.
func (o SliceOptions) WatchSlices(ctx context.Context) error {
	client, err := o.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return northbound.WithStatus(client.WatchSlices(ctx, func(c *apiv1.SlicesChanged) error { return o.print(c.Slices) }))
}

func statusOf(x *apiv1.Slice) SliceStatus {
	return SliceStatus{Name: x.Name, Owner: x.Owner, Shape: x.Shape, State: x.State, Reason: x.Reason, Message: x.Message,
		Hosts: x.Hosts, Cubes: x.Cubes, Swaps: x.Swaps, Circuits: x.Circuits, Dark: x.Dark, Asked: x.AskedNs,
		Since: x.SinceNs, Ready: x.ReadyNs}
}

func (o SliceOptions) print(all []*apiv1.Slice) error {
	if o.Output == console.OutputJSON {
		out := []SliceStatus{}
		for _, x := range all {
			out = append(out, statusOf(x))
		}
		return console.WriteJSON(o.Stdout, out)
	}
	t := console.NewTable(o.Stdout, "slice", "shape", "state", "reason", "cubes or racks", "lit", "ready after", "owner")
	t.Right(6, 7)
	for _, x := range all {
		took := "–"
		if x.ReadyNs > 0 {
			took = time.Duration(x.ReadyNs - x.AskedNs).Round(time.Millisecond).String()
		}
		cubes := strings.Trim(fmt.Sprint(x.Cubes), "[]")
		t.Row(x.Name, x.Shape, x.State, x.Reason, cubes, fmt.Sprintf("%d/%d", x.Circuits-x.Dark, x.Circuits), took, x.Owner)
	}
	return t.Print()
}
