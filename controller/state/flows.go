package state

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// A job has up to 2^20 flows, which package json reads and writes in seconds. Lists of them in the form
// in which Encode writes them are read and written here, in a tenth of that: a mark takes the place of
// each while package json does the rest. What has another form is left to it.

// manyFlows is from which size on of a batch its flows are read here.
const manyFlows = 64 << 10

// mark is the flow in the place of the list of that number.
func mark(list int) controller.Flow {
	return controller.Flow{Src: math.MinInt32, Dst: southbound.HostID(list), Bytes: math.MinInt64}
}

// decodeFlows is strict for a batch of many flows. It returns false for batches that strict must read:
// those that have none, or are not as Encode writes them.
func decodeFlows(b []byte, batch *[]Entry) bool {
	if len(b) < manyFlows {
		return false
	}
	rest, lists := cutFlows(b)
	if len(lists) == 0 || strict(rest, batch) != nil || !putFlows(*batch, lists) {
		*batch = nil
		return false
	}
	return true
}

// cutFlows returns a batch with marks in place of its lists of flows. A quotation mark behind { or ,
// begins a text in any JSON, and one with a colon behind it is a key.
func cutFlows(b []byte) (rest []byte, lists [][]controller.Flow) {
	key := []byte(`"flows":[`)
	for {
		at := bytes.Index(b, key)
		if at < 0 {
			return append(rest, b...), lists
		}
		begin := at + len(key)
		flows, n := readFlows(b[begin:])
		if n == 0 || at == 0 || b[at-1] != ',' && b[at-1] != '{' {
			rest, b = append(rest, b[:begin]...), b[begin:]
			continue
		}
		rest = appendFlow(append(rest, b[:begin]...), mark(len(lists)))
		lists, b = append(lists, flows), b[begin+n:]
	}
}

// putFlows puts lists back. It returns false if not each has one place, in their order, or if a flow of
// the batch itself looks like a mark.
func putFlows(batch []Entry, lists [][]controller.Flow) bool {
	put := 0
	for i := range batch {
		if batch[i].Job == nil {
			continue
		}
		for k := range batch[i].Job.Edges {
			e := &batch[i].Job.Edges[k]
			if len(e.Flows) == 0 || e.Flows[0].Src != mark(0).Src || e.Flows[0].Bytes != mark(0).Bytes {
				continue
			}
			if len(e.Flows) > 1 || put == len(lists) || e.Flows[0] != mark(put) {
				return false
			}
			e.Flows = lists[put]
			put++
		}
	}
	return put == len(lists)
}

// readFlows reads the flows of a list, up to its end, and returns how many bytes they are: 0 if they
// have another form.
func readFlows(b []byte) (flows []controller.Flow, n int) {
	r := flowReader{b: b}
	for more := true; more; more = r.has(`,`) {
		var f controller.Flow
		r.must(`{"src":`)
		f.Src = southbound.HostID(r.number(32))
		r.must(`,"dst":`)
		f.Dst = southbound.HostID(r.number(32))
		r.must(`,"bytes":`)
		f.Bytes = pathmap.Bytes(r.number(64))
		if r.has(`,"count":`) {
			f.Count = int32(r.number(32))
		}
		r.must(`}`)
		if r.bad {
			return nil, 0
		}
		if flows == nil { // those that follow are about as long
			flows = make([]controller.Flow, 0, min(len(b)/r.at+1, controller.MaxFlows))
		}
		flows = append(flows, f)
	}
	n = r.at
	if r.must(`]`); r.bad {
		return nil, 0
	}
	return flows, n
}

// flowReader reads what Encode writes; bad once there is something else.
type flowReader struct {
	b   []byte
	at  int
	bad bool
}

func (r *flowReader) has(s string) bool {
	if len(r.b)-r.at < len(s) || string(r.b[r.at:r.at+len(s)]) != s {
		return false
	}
	r.at += len(s)
	return true
}

func (r *flowReader) must(s string) {
	if !r.has(s) {
		r.bad = true
	}
}

// number reads an integer of that many bits.
func (r *flowReader) number(bits int) int64 {
	negative := r.has(`-`)
	begin, v := r.at, uint64(0)
	for ; r.at < len(r.b) && r.b[r.at] >= '0' && r.b[r.at] <= '9' && r.at-begin < 20; r.at++ {
		v = 10*v + uint64(r.b[r.at]-'0')
	}
	n, most := r.at-begin, uint64(1)<<(bits-1)-1
	if negative {
		most++
	}
	if n == 0 || n > 19 || n > 1 && r.b[begin] == '0' || v > most {
		r.bad = true
	}
	if negative {
		return -int64(v)
	}
	return int64(v)
}

// entry adds an entry as package json writes it.
func (t *text) entry(e *Entry) error {
	marked, lists := markFlows(e)
	rest, err := json.Marshal(marked)
	if err != nil {
		return err
	}
	size := len(rest)
	for _, flows := range lists {
		size += flowsSize(flows)
	}
	t.grow(size)
	for k, flows := range lists { // texts hold no mark: package json escapes their quotation marks
		before, behind, _ := bytes.Cut(rest, appendFlow(nil, mark(k)))
		t.add(before)
		for i, f := range flows {
			if i > 0 {
				*t = append(*t, ',')
			}
			*t = appendFlow(*t, f)
		}
		rest = behind
	}
	t.add(rest)
	return nil
}

// markFlows returns an entry with marks in place of its lists of flows, if these are long.
func markFlows(e *Entry) (marked *Entry, lists [][]controller.Flow) {
	if e.Job == nil {
		return e, nil
	}
	n := 0
	for i := range e.Job.Edges {
		n += len(e.Job.Edges[i].Flows)
	}
	if n < manyFlows/64 { // of some 64 bytes each
		return e, nil
	}
	c, j := *e, *e.Job
	c.Job, j.Edges = &j, slices.Clone(j.Edges)
	for i := range j.Edges {
		if x := &j.Edges[i]; len(x.Flows) > 0 {
			lists = append(lists, x.Flows)
			x.Flows = []controller.Flow{mark(len(lists) - 1)}
		}
	}
	return &c, lists
}

// flowsSize is what a list of flows takes, with a comma behind each.
func flowsSize(flows []controller.Flow) (n int) {
	var room [128]byte
	for _, f := range flows {
		n += len(appendFlow(room[:0], f)) + 1
	}
	return n
}

// appendFlow writes a flow as package json does.
func appendFlow(b []byte, f controller.Flow) []byte {
	b = strconv.AppendInt(append(b, `{"src":`...), int64(f.Src), 10)
	b = strconv.AppendInt(append(b, `,"dst":`...), int64(f.Dst), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(f.Bytes), 10)
	if f.Count != 0 {
		b = strconv.AppendInt(append(b, `,"count":`...), int64(f.Count), 10)
	}
	return append(b, '}')
}
