package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// request is a netlink request about an interface, without that interface.
type request struct {
	what string // in errors
	msg  []byte
}

// newRequest makes a request to add something that is not there.
func newRequest(what string, kind int, data ...nl.NetlinkRequestData) request {
	req := nl.NewNetlinkRequest(kind, unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	for _, d := range data {
		req.AddData(d)
	}
	return request{what, req.Serialize()}
}

// setUp sets an interface up.
func setUp() request {
	req, msg := nl.NewNetlinkRequest(unix.RTM_NEWLINK, 0), nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Change, msg.Flags = unix.IFF_UP, unix.IFF_UP
	req.AddData(msg)
	return request{"set up", req.Serialize()}
}

// batch is requests that go to the kernel in one call. One by one, each waits for a processor of Go's again, and those
// can be busy with programming switches.
type batch struct {
	wire *wire
	buf  []byte
	last int // where the last request begins
	all  []batched
}

type batched struct {
	seq  uint32
	tag  int
	what string
}

// batchBytes are how many bytes a batch has before it is sent: sockets take some 200,000.
const batchBytes = 64 << 10

// Where the header of a request or an answer (struct nlmsghdr), and what follows it (tcmsg, ifinfomsg), have fields.
const (
	atType  = 4
	atFlags = 6
	atSeq   = 8
	atIndex = 20
)

// add adds requests about an interface; tag is for their sender.
func (b *batch) add(tag, index int, all []request) {
	for _, r := range all {
		seq := atomic.AddUint32(&b.wire.raw[unix.NETLINK_ROUTE].Seq, 1)
		b.last = len(b.buf)
		b.buf = append(b.buf, r.msg...)
		for len(b.buf)%unix.NLMSG_ALIGNTO != 0 {
			b.buf = append(b.buf, 0)
		}
		binary.NativeEndian.PutUint32(b.buf[b.last+atSeq:], seq)
		binary.NativeEndian.PutUint32(b.buf[b.last+atIndex:], uint32(index))
		b.all = append(b.all, batched{seq, tag, r.what})
	}
}

// full reports whether the batch should be sent.
func (b *batch) full() bool { return len(b.buf) >= batchBytes }

// send sends the requests and empties the batch. Of an error it returns the tag of the first request that failed; later
// ones may have been carried out.
func (b *batch) send() (tag int, err error) {
	all, buf := b.all, b.buf
	b.all, b.buf = nil, b.buf[:0]
	if len(all) == 0 {
		return 0, nil
	}
	flags := buf[b.last+atFlags:]
	binary.NativeEndian.PutUint16(flags, binary.NativeEndian.Uint16(flags)|unix.NLM_F_ACK)
	s := b.wire.raw[unix.NETLINK_ROUTE].Socket
	s.Lock()
	defer s.Unlock()
	if err := unix.Sendto(s.GetFd(), buf, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return all[0].tag, fmt.Errorf("%s: %w", all[0].what, err)
	}
	return answer(s.GetFd(), all)
}

// answer reads all that the kernel has answered to requests, which is there once they are sent: what is left would take
// the room of later answers. Of very many refusals the kernel drops the last, and says so once.
func answer(socket int, all []batched) (tag int, err error) {
	done := false
	for {
		var m [unix.NLMSG_HDRLEN + 4]byte // each answer is a datagram, which begins with the number of an error
		n, _, failed := unix.Recvfrom(socket, m[:], unix.MSG_DONTWAIT)
		switch {
		case errors.Is(failed, unix.ENOBUFS) || errors.Is(failed, unix.EINTR):
			continue
		case errors.Is(failed, unix.EAGAIN) && (done || err != nil):
			return tag, err
		case failed != nil:
			return all[0].tag, fmt.Errorf("%s: read the answer: %w", all[0].what, failed)
		}
		i, found := slices.BinarySearchFunc(all, binary.NativeEndian.Uint32(m[atSeq:]), func(r batched, seq uint32) int {
			return int(int32(r.seq - seq)) // numbers go round
		})
		if !found || n < len(m) || binary.NativeEndian.Uint16(m[atType:]) != unix.NLMSG_ERROR {
			continue // an answer to what was sent before
		}
		code := int32(binary.NativeEndian.Uint32(m[unix.NLMSG_HDRLEN:]))
		if code != 0 && err == nil {
			tag, err = all[i].tag, fmt.Errorf("%s: %w", all[i].what, syscall.Errno(-code))
		}
		done = done || i == len(all)-1
	}
}
