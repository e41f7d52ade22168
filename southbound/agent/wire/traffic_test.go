package wire

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

func TestTrafficRoundTrip(t *testing.T) {
	want := Traffic{At: time.Second, Moved: []Moved{{0, 1, 5}, {0, 2, 1 << 62}, {3, 0, 0}}}
	m, err := want.Message()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := TrafficOf(m); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	most := Traffic{At: southbound.Never}
	for i := range MaxMoved {
		most.Moved = append(most.Moved, Moved{1<<31 - 1, southbound.HostID(1<<31 - 1 - MaxMoved + i), 1<<63 - 1})
	}
	if m, err := most.Message(); err != nil || proto.Size(m) > MaxMessage {
		t.Errorf("the largest has %d bytes, %v", proto.Size(m), err)
	}
	most.Moved = append(most.Moved, Moved{})
	if _, err := most.Message(); !errors.Is(err, southbound.ErrUnsupported) {
		t.Errorf("one pair too many: %v", err)
	}
}

func FuzzTraffic(f *testing.F) {
	for _, m := range []*agentpb.TrafficReply{{}, {Src: []int32{1}}, {AtNs: -1},
		{Src: []int32{1, 1}, Dst: []int32{2, 2}, Bytes: []int64{1, 1}},
		{Src: []int32{1, 2}, Dst: []int32{2, 1}, Bytes: []int64{1, 1}}} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m agentpb.TrafficReply
		if proto.Unmarshal(b, &m) != nil {
			return
		}
		got, err := TrafficOf(&m)
		if err != nil {
			return
		}
		for i, x := range got.Moved {
			if x.Bytes < 0 || i > 0 && (x.Src < got.Moved[i-1].Src || x.Src == got.Moved[i-1].Src &&
				x.Dst <= got.Moved[i-1].Dst) {
				t.Errorf("row %d: %+v", i, x)
			}
		}
	})
}
