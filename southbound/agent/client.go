package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
)

// Client is the door to one agent. It implements southbound.Hosts: calls are queued and sent in their
// order, each tried until the agent has answered, the client is closed, or a larger election id is
// known. All methods can be called by several goroutines; what Left returns is borrowed until the next
// call of Left for that coflow.
type Client struct {
	cfg  Config
	conn *grpc.ClientConn
	rpc  agentpb.AgentClient
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	done sync.WaitGroup
	once sync.Once

	queue   *queue
	backlog *backlog
	trouble trouble
	kick    chan struct{} // a call went through: the progress stream may open
}

var _ southbound.Hosts = (*Client)(nil)

// Dial returns a client of the agent at cfg.Addr. It does not wait for the agent to answer: calls are
// queued meanwhile (Status waits for an answer). ctx bounds the life of the client; Close ends it
// earlier.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	target := "passthrough:///" + cfg.Addr
	conn, err := grpc.NewClient(target, cfg.dialOptions()...)
	if err != nil {
		return nil, fmt.Errorf("dial agent %q: %w", cfg.Addr, err)
	}
	c := &Client{cfg: cfg, conn: conn, rpc: agentpb.NewAgentClient(conn), queue: newQueue(),
		backlog: newBacklog(),
		kick:    make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancel(ctx)
	if err := c.introduce(); err != nil {
		c.stop()
		return nil, errors.Join(err, conn.Close())
	}
	c.done.Go(c.send)
	c.done.Go(c.follow)
	return c, nil
}

// Close ends the client and everything it does. What is still queued is dropped; Flush first to keep
// it. A second call is nothing.
func (c *Client) Close() error {
	c.stop()
	c.done.Wait()
	var err error
	c.once.Do(func() { err = c.conn.Close() })
	return err
}

func (c *Client) election() *agentpb.Election {
	high, low := c.cfg.Election()
	return wire.Election{High: high, Low: low}.Message()
}

// introduce tells the agent which hosts there are.
func (c *Client) introduce() error {
	for _, req := range wire.SetNetworks(c.cfg.Network) {
		if err := c.enqueue(setNetwork, func(ctx context.Context) error {
			req.Election = c.election()
			_, err := c.rpc.SetNetwork(ctx, req)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Run hands tasks over.
func (c *Client) Run(tasks []southbound.Task) error {
	for _, req := range wire.Runs(tasks) {
		if err := c.enqueue("run tasks", func(ctx context.Context) error {
			req.Election = c.election()
			_, err := c.rpc.Run(ctx, req)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Start hands coflows over, large ones in several calls.
func (c *Client) Start(starts []southbound.Start) error {
	reqs, err := wire.Starts(starts)
	if err != nil {
		return err
	}
	c.backlog.start(starts)
	for _, req := range reqs {
		if err := c.enqueue("start coflows", func(ctx context.Context) error {
			req.Election = c.election()
			reply, err := c.rpc.Start(ctx, req)
			c.backlog.started(req, reply)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Steer hands steerings over.
func (c *Client) Steer(steers []southbound.Steer) error {
	for _, req := range wire.Steers(steers) {
		if err := c.enqueue("steer host flows", func(ctx context.Context) error {
			req.Election = c.election()
			_, err := c.rpc.Steer(ctx, req)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// SetRates hands rates over.
func (c *Client) SetRates(r *southbound.Rates) error {
	reqs, err := wire.SetRates(r)
	if err != nil {
		return err
	}
	for _, req := range reqs {
		if err := c.enqueue("set rates", func(ctx context.Context) error {
			req.Election = c.election()
			_, err := c.rpc.SetRates(ctx, req)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Ack lets the agent forget the events up to and including number through.
func (c *Client) Ack(through uint64) error {
	return c.enqueue("acknowledge events", func(ctx context.Context) error {
		_, err := c.rpc.Ack(ctx, &agentpb.AckRequest{Election: c.election(), Through: through})
		return err
	})
}

// Remaining returns the agent's last report of a coflow.
func (c *Client) Remaining(id southbound.CoflowID) (southbound.Remaining, bool) {
	return c.backlog.left(id)
}

// Status requests the agent's status, bypassing the queue, and waits for the connection if there is
// none yet. It makes the election id known to the agent, so an older leader can do nothing from then
// on.
func (c *Client) Status(ctx context.Context) (Status, error) {
	m, err := c.rpc.Status(ctx, &agentpb.StatusRequest{Election: c.election()}, grpc.WaitForReady(true))
	if err != nil {
		return Status{}, fmt.Errorf("ask agent %q for its status: %w", c.cfg.Addr, wire.FromStatus(err))
	}
	return wire.StatusOf(m), nil
}

// Traffic requests the bytes that the agent's hosts have sent each other, announced or not, bypassing
// the queue.
func (c *Client) Traffic(ctx context.Context) (wire.Traffic, error) {
	m, err := c.rpc.Traffic(ctx, &agentpb.TrafficRequest{Election: c.election()})
	if err != nil {
		return wire.Traffic{}, fmt.Errorf("ask agent %q for traffic: %w", c.cfg.Addr, wire.FromStatus(err))
	}
	return wire.TrafficOf(m)
}

// Flush waits until everything that was queued before has been answered or given up.
func (c *Client) Flush(ctx context.Context) error {
	reached := make(chan struct{})
	if err := c.enqueue("flush", func(context.Context) error { close(reached); return nil }); err != nil {
		return err
	}
	select {
	case <-reached:
		return nil
	case <-c.ctx.Done():
		return fmt.Errorf("flush calls to agent %q: the client is closed", c.cfg.Addr)
	case <-ctx.Done():
		return fmt.Errorf("flush calls to agent %q: %w", c.cfg.Addr, ctx.Err())
	}
}

// pause waits for a back-off time, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Regard reports to the agent that hosts, its own or others', have failed or are back: host flows from
// them and to them are void, without events. It bypasses the queue.
func (c *Client) Regard(ctx context.Context, hosts []southbound.HostID, up bool) error {
	req := &agentpb.RegardRequest{Election: c.election(), Up: up}
	for _, h := range hosts {
		req.Host = append(req.Host, int32(h))
	}
	if _, err := c.rpc.Regard(ctx, req); err != nil {
		return fmt.Errorf("regard %d hosts at agent %q: %w", len(hosts), c.cfg.Addr, wire.FromStatus(err))
	}
	return nil
}
