package outcome

import (
	"strconv"

	"lightloom/controller/loop"
	"lightloom/southbound"
	"lightloom/southbound/hostagent"
)

// reservationLine is a line of the file of --per-reservation. Times are seconds of the run. Bytes are payload: what the
// controller knew to be left, and what was.
type reservationLine struct {
	Policy string `json:"policy"`
	Basis  string `json:"on"`
	loop.Usage
}

func (l *reservationLine) fields() []string {
	out := []string{strconv.Itoa(int(l.In)), strconv.Itoa(int(l.Out)), strconv.Itoa(int(l.Coflow)),
		decimal(inSeconds(l.NotBefore)), decimal(inSeconds(l.NotAfter)), decimal(inSeconds(l.Delta)),
		optional(known(l.Made)), optional(known(l.Begun)), optional(known(l.Connected)), optional(known(l.InService)),
		optional(known(l.Steered)), decimal(inSeconds(l.Ended)), l.Cause.String()}
	for _, c := range []loop.Count{l.AtMade, l.AtService, l.AtEnd} {
		out = append(out, decimal(c.Bytes), decimal(c.Actual), decimal(inSeconds(c.Age)))
	}
	return append(out, l.Policy)
}

// WritePerReservation writes a line for every circuit reservation of every policy that has ended.
func WritePerReservation(name string, outcomes []*Outcome) error {
	head := []string{"in", "out", "coflow", "not_before", "not_after", "delta", "made", "begun",
		"connected", "in_service",
		"steered", "ended", "cause", "made_known", "made_actual", "made_age", "service_known", "service_actual",
		"service_age", "end_known", "end_actual", "end_age", "policy"}
	return writeLines(name, "per-reservation", head, func(emit func(*reservationLine) error) error {
		for _, o := range outcomes {
			for _, u := range o.Usages {
				if err := emit(&reservationLine{o.Row.Name, o.Basis, u}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// HostFlow is what TCP did to a host flow.
type HostFlow struct {
	southbound.HostFlowKey
	Src   southbound.HostID `json:"src"`
	Dst   southbound.HostID `json:"dst"`
	Bytes int64             `json:"bytes"`
	hostagent.Carried
}

type hostFlowLine struct {
	HostFlow
	Policy string `json:"policy"`
}

func (l *hostFlowLine) fields() []string {
	var out []string
	for _, n := range []int64{int64(l.Coflow), int64(l.Row), int64(l.Src), int64(l.Dst), l.Bytes,
		l.Retransmitted,
		l.Reordered, l.Marked, l.Received} {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return append(out, l.Policy)
}

// WritePerHostFlow writes a line for every connection of a host flow.
func WritePerHostFlow(name string, outcomes []*Outcome) error {
	head := []string{"coflow", "row", "src", "dst", "bytes", "retransmitted", "reordered", "marked",
		"received", "policy"}
	return writeLines(name, "per-host-flow", head, func(emit func(*hostFlowLine) error) error {
		for _, o := range outcomes {
			for _, f := range o.HostFlows {
				if err := emit(&hostFlowLine{f, o.Row.Name}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
