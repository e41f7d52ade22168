package chaos

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// AppendEntriesPipeline implements raft.Transport. Requests of one pipeline arrive in order, one at a time, as on one
// connection; a lost one breaks it.
func (t *Transport) AppendEntriesPipeline(_ raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	p := &pipeline{t: t, to: to, queue: make(chan *pending), done: make(chan raft.AppendFuture), end: make(chan struct{})}
	go p.run()
	return p, nil
}

type pipeline struct {
	t     *Transport
	to    raft.ServerAddress
	queue chan *pending
	done  chan raft.AppendFuture
	end   chan struct{}
	once  sync.Once
}

// pending is a raft.AppendFuture.
type pending struct {
	start time.Time
	args  *raft.AppendEntriesRequest
	resp  *raft.AppendEntriesResponse
	err   error
	over  chan struct{}
}

func (p *pending) Error() error                          { <-p.over; return p.err }
func (p *pending) Start() time.Time                      { return p.start }
func (p *pending) Request() *raft.AppendEntriesRequest   { return p.args }
func (p *pending) Response() *raft.AppendEntriesResponse { return p.resp }

func (p *pipeline) run() {
	for {
		var next *pending
		select {
		case next = <-p.queue:
		case <-p.end:
			return
		}
		next.err = call(p.t, p.to, next.args, next.resp, copyAppend)
		close(next.over)
		select {
		case p.done <- next:
		case <-p.end:
			return
		}
	}
}

// AppendEntries implements raft.AppendPipeline.
func (p *pipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f := &pending{start: time.Now(), args: args, resp: resp, over: make(chan struct{})}
	select {
	case p.queue <- f:
		return f, nil
	case <-p.end:
		return nil, raft.ErrPipelineShutdown
	}
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.done }

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.once.Do(func() { close(p.end) })
	return nil
}
