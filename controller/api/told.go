package api

import (
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	apiv1 "lightloom/controller/api/v1"
)

// told is the newest message that many watchers get, and what it is on the wire: encoded once, and not
// by watcher.
type told struct {
	mu   sync.Mutex
	of   *apiv1.JobsChanged
	wire *apiv1.JobsChanged // whose unknown fields are the encoding of all that of holds
	text []byte
}

// binary returns a message that is encoded as m is, by copying.
func (t *told) binary(m *apiv1.JobsChanged) *apiv1.JobsChanged {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turnTo(m)
	if t.wire == nil {
		b, err := proto.Marshal(m)
		if err != nil {
			return m // its sender finds the same
		}
		t.wire = &apiv1.JobsChanged{}
		t.wire.ProtoReflect().SetUnknown(b)
	}
	return t.wire
}

// json returns m as JSON. Borrowed.
func (t *told) json(m *apiv1.JobsChanged) (b []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turnTo(m)
	if t.text == nil {
		t.text, err = protojson.Marshal(m)
	}
	return t.text, err
}

func (t *told) turnTo(m *apiv1.JobsChanged) {
	if t.of != m {
		t.of, t.wire, t.text = m, nil, nil
	}
}
