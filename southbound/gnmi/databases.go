package gnmi

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// SONiC's gNMI server has rules of its own: a request names paths of one database; a subscription to a
// table that does not exist is ended by an error; and the deletion of one row is sent as that of its
// table. So there is a stream for each database, what is absent is polled, and a table that is said to
// be gone is read.

// databases splits paths into those of one database each, in their order. Paths of other models stay
// together.
func (s *Session) databases(paths []schema.Path) (out [][]schema.Path) {
	at := map[string]int{}
	for _, p := range paths {
		db := ""
		if len(p) > 0 && s.model.Origins[p[0].Name] == schema.SONiCOrigin {
			db = p[0].Name
		}
		i, ok := at[db]
		if !ok {
			i, out = len(out), append(out, nil)
			at[db] = i
		}
		out[i] = append(out[i], p)
	}
	return out
}

// report is what one of several streams brings.
type report struct {
	part   int // of the databases
	note   *gpb.Notification
	tables []schema.Path // or these tables are as leaves have them
	leaves []schema.Leaf
	synced bool
	err    error // the stream has ended
}

// followDatabases follows a stream for each database. It returns why one of them ended; never nil.
func (s *Session) followDatabases(ctx context.Context, parts [][]schema.Path,
	sink func(southbound.DeviceEvent)) error {
	g, ctx := errgroup.WithContext(ctx)
	all := make(chan report)
	for i, paths := range parts {
		g.Go(func() error { return send(ctx, all, report{err: s.followDatabase(ctx, i, paths, all)}) })
	}
	g.Go(func() error { return s.takeReports(ctx, len(parts), all, sink) })
	return g.Wait()
}

// takeReports decodes what the streams bring, in the order in which it comes.
func (s *Session) takeReports(ctx context.Context, parts int, all <-chan report,
	sink func(southbound.DeviceEvent)) error {
	decoder, shown, synced := s.cfg.Profile.NewDecoder(), shownLeaves{}, map[int]bool{}
	for {
		var r report
		select {
		case r = <-all:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.err != nil {
			return r.err
		}
		gone, leaves := shown.missing(r.tables, r.leaves), r.leaves
		var at time.Duration
		if r.note != nil {
			var err error
			if gone, leaves, err = decodeNotification(s.model, r.note); err != nil {
				return err
			}
			at = s.instant(r.note.GetTimestamp())
		}
		shown.keep(gone, leaves)
		events, err := decoder.Decode(gone, leaves)
		if err != nil {
			return err
		}
		for _, e := range events {
			e.At, e.Device = at, s.cfg.Device
			sink(e)
		}
		if !r.synced || synced[r.part] {
			continue
		}
		if synced[r.part] = true; len(synced) == parts {
			if err := s.complete(decoder, sink); err != nil {
				return err
			}
			sink(southbound.DeviceEvent{Device: s.cfg.Device, Kind: southbound.Synced, In: southbound.NoPort,
				Out: southbound.NoPort})
		}
	}
}

// shownLeaves are the paths that a device has shown, by their text.
type shownLeaves map[string]schema.Path

func (k shownLeaves) keep(gone []schema.Path, leaves []schema.Leaf) {
	for _, g := range gone {
		for text, p := range k {
			if g.Match(p) {
				delete(k, text)
			}
		}
	}
	for _, l := range leaves {
		k[l.Path.String()] = l.Path
	}
}

// missing returns what was shown of tables and is not among their leaves.
func (k shownLeaves) missing(tables []schema.Path, leaves []schema.Leaf) (gone []schema.Path) {
	now := make(map[string]bool, len(leaves))
	for _, l := range leaves {
		now[l.Path.String()] = true
	}
	for _, text := range sortedKeys(k) {
		if !now[text] && slices.ContainsFunc(tables, func(t schema.Path) bool { return t.Match(k[text]) }) {
			gone = append(gone, k[text])
		}
	}
	return gone
}

// followDatabase streams tables of one database, and polls them while one is absent.
func (s *Session) followDatabase(ctx context.Context, part int, paths []schema.Path,
	out chan<- report) error {
	for {
		err := s.streamTables(ctx, part, paths, out)
		if ctx.Err() != nil || !absent(err) {
			return err
		}
		if err := s.pollTables(ctx, part, paths, out); err != nil {
			return err
		}
	}
}

// pollTables polls tables until all of them exist.
func (s *Session) pollTables(ctx context.Context, part int, paths []schema.Path, out chan<- report) error {
	tick := time.NewTicker(s.cfg.Poll)
	defer tick.Stop()
	for {
		leaves, missing, err := s.readTables(ctx, paths)
		if err == nil {
			err = send(ctx, out, report{part: part, tables: paths, leaves: leaves, synced: true})
		}
		if err != nil {
			return err
		}
		select { // also before the next stream: the device may refuse it for another reason
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !missing {
			return nil
		}
	}
}

// absent reports whether a stream has ended because a table does not exist.
func absent(err error) bool {
	return status.Code(err) == codes.NotFound || status.Code(err) == codes.InvalidArgument
}

var errEnded = errors.New("the device ended the stream")

func send(ctx context.Context, out chan<- report, r report) error {
	select {
	case out <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// streamTables follows one stream until it ends; the error is never nil.
func (s *Session) streamTables(ctx context.Context, part int, paths []schema.Path, out chan<- report) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.client.Subscribe(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(s.subscription(paths)); err != nil && !errors.Is(err, io.EOF) {
		return err // at EOF, Recv says why
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return errEnded
		}
		if err != nil {
			return err
		}
		r := report{part: part, note: resp.GetUpdate(), synced: resp.GetSyncResponse()}
		doubtful := s.wholeTables(r.note)
		if err := send(ctx, out, r); err != nil {
			return err
		}
		if len(doubtful) == 0 {
			continue
		}
		leaves, _, err := s.readTables(ctx, doubtful)
		if err == nil {
			err = send(ctx, out, report{part: part, tables: doubtful, leaves: leaves})
		}
		if err != nil {
			return err
		}
	}
}

// wholeTables takes deletions of whole tables out of a notification, and returns the tables.
func (s *Session) wholeTables(n *gpb.Notification) (tables []schema.Path) {
	if n == nil {
		return nil
	}
	n.Delete = slices.DeleteFunc(n.Delete, func(d *gpb.Path) bool {
		p, err := s.model.FromProto(n.GetPrefix(), d)
		if err != nil || len(p) == 0 || len(p[len(p)-1].Keys) > 0 {
			return false
		}
		node, err := s.model.Lookup(p, false)
		if err != nil || !node.Table {
			return false
		}
		tables = append(tables, p)
		return true
	})
	return tables
}

// readTables reads tables one by one. missing says that one of them does not exist.
func (s *Session) readTables(ctx context.Context, paths []schema.Path) (all []schema.Leaf,
	missing bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	for _, p := range paths {
		leaves, err := s.getOnce(ctx, []schema.Path{p}, gpb.GetRequest_ALL)
		switch {
		case status.Code(err) == codes.NotFound:
			missing = true
		case err != nil:
			return nil, false, err
		}
		all = append(all, leaves...)
	}
	return all, missing, nil
}
