package api

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	apiv1 "lightloom/controller/api/v1"
)

// TestTold: what is encoded once for all watchers says what the message says, as each of them reads it,
// and the next message is not taken for it.
func TestTold(t *testing.T) {
	var once told
	for _, m := range []*apiv1.JobsChanged{
		{Index: 7, Jobs: []*apiv1.JobInfo{{Id: 3, Name: "a"}, {Id: 4, Name: "b"}}},
		{Index: 8, Jobs: []*apiv1.JobInfo{{Id: 3, Name: "a", User: "ann"}}},
	} {
		for range 2 {
			b, err := proto.Marshal(once.binary(m))
			read := &apiv1.JobsChanged{}
			if err != nil || proto.Unmarshal(b, read) != nil || !proto.Equal(read, m) {
				t.Errorf("%v is read as %v, %v", m, read, err)
			}
			text, err := once.json(m)
			read = &apiv1.JobsChanged{}
			if err != nil || protojson.Unmarshal(text, read) != nil || !proto.Equal(read, m) {
				t.Errorf("%v is read from JSON as %v, %v", m, read, err)
			}
		}
		if first, again := once.binary(m), once.binary(m); first != again {
			t.Error("it is encoded twice")
		}
	}
}
