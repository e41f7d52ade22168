package gribi

import (
	"fmt"
	"strings"

	spb "github.com/openconfig/gribi/v1/proto/service"

	"lightloom/southbound"
)

// answers are what a switch has said on one stream.
type answers struct {
	id      *spb.Uint128
	fib     bool
	open    map[uint64]*spb.AFTOperation // by id: not answered yet
	params  bool
	elected bool
	failed  failure
}

func newAnswers(id *spb.Uint128, ops []*spb.AFTOperation,
	ack spb.SessionParameters_AFTResultStatusType) *answers {
	a := &answers{id: id, fib: ack == spb.SessionParameters_RIB_AND_FIB_ACK,
		open: map[uint64]*spb.AFTOperation{}}
	for _, op := range ops {
		a.open[op.GetId()] = op
	}
	return a
}

func (a *answers) done() bool { return a.params && a.elected && len(a.open) == 0 }

func (a *answers) err() error {
	if len(a.failed.told) > 0 {
		return &a.failed
	}
	return nil
}

// take reads one response. An error ends the stream.
func (a *answers) take(r *spb.ModifyResponse) error {
	a.params = a.params || r.GetSessionParamsResult() != nil
	if e := r.GetElectionId(); e != nil {
		if less(a.id, e) {
			return &deposed{a.id, e}
		}
		a.elected = true
	}
	for _, x := range r.GetResult() {
		op, asked := a.open[x.GetId()]
		if !asked {
			continue // RIB after FIB, or what was not asked
		}
		switch x.GetStatus() {
		case spb.AFTResult_FAILED, spb.AFTResult_FIB_FAILED:
			a.failed.add(op, x)
		case spb.AFTResult_RIB_PROGRAMMED:
			if _, route := op.GetEntry().(*spb.AFTOperation_Ipv4); route && a.fib {
				continue // it is not forwarded yet; groups and next hops forward nothing by themselves
			}
		case spb.AFTResult_FIB_PROGRAMMED:
		default:
			//nolint:staticcheck // deprecated, and perhaps still sent
			if x.GetStatus() != spb.AFTResult_OK {
				return fmt.Errorf("the device answers operation %d with status %v", x.GetId(), x.GetStatus())
			}
		}
		delete(a.open, x.GetId())
	}
	return nil
}

// deposed is the error of a client whose election id is not the largest.
type deposed struct{ ours, largest *spb.Uint128 }

func (d *deposed) Error() string {
	return fmt.Sprintf("the device knows election id %d.%d, and ours is %d.%d: %v", d.largest.GetHigh(),
		d.largest.GetLow(), d.ours.GetHigh(), d.ours.GetLow(), southbound.ErrNotLeader)
}

func (d *deposed) Unwrap() error { return southbound.ErrNotLeader }

func less(a, b *spb.Uint128) bool {
	return a.GetHigh() < b.GetHigh() || a.GetHigh() == b.GetHigh() && a.GetLow() < b.GetLow()
}

// failure is what a switch has refused.
type failure struct {
	told []string
	more int
}

// maxTold bounds how many refusals an error tells of.
const maxTold = 3

func (f *failure) add(op *spb.AFTOperation, r *spb.AFTResult) {
	if len(f.told) == maxTold {
		f.more++
		return
	}
	f.told = append(f.told, fmt.Sprintf("%s: %v: %s", describe(op), r.GetStatus(),
		r.GetErrorDetails().GetErrorMessage()))
}

func (f *failure) Error() string {
	text := strings.Join(f.told, "; ")
	if f.more > 0 {
		text += fmt.Sprintf("; and %d more", f.more)
	}
	return text
}

// describe names the entry of an operation.
func describe(op *spb.AFTOperation) string {
	what := "entry"
	switch x := op.GetEntry().(type) {
	case *spb.AFTOperation_Ipv4:
		what = "route " + x.Ipv4.GetPrefix()
	case *spb.AFTOperation_NextHopGroup:
		what = fmt.Sprintf("next-hop group %#x", x.NextHopGroup.GetId())
	case *spb.AFTOperation_NextHop:
		what = fmt.Sprintf("next hop %#x", x.NextHop.GetIndex())
	}
	return fmt.Sprintf("%v %s in %q", op.GetOp(), what, op.GetNetworkInstance())
}
