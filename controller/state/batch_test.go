package state

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestEncodeWithin: batches are as large as they may be and no larger, hold every entry once and in
// order, and are what Encode writes. An entry that fits nowhere is left out and named.
func TestEncodeWithin(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 41))
		var all []Entry
		for range r.IntN(40) {
			all = append(all, Entry{Kind: HostFlowEnded, At: time.Duration(r.Int64N(1 << r.IntN(60))),
				Coflow: southbound.
					CoflowID(r.IntN(1e6)), Row: int32(r.IntN(1000))})
		}
		most := 120 + r.IntN(400)
		batches, err := EncodeWithin(all, most)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var back []Entry
		for i, b := range batches {
			got, err := Decode(b)
			if err != nil || len(b) > most {
				t.Fatalf("seed %d: a batch of %d bytes, at most %d are asked for: %v", seed, len(b), most, err)
			}
			if whole, err := Encode(got); err != nil || !bytes.Equal(whole, b) {
				t.Fatalf("seed %d: %s, where Encode writes %s: %v", seed, b, whole, err)
			}
			if i > 0 {
				first, err := json.Marshal(&got[0])
				if err != nil || len(batches[i-1])+1+len(first) <= most {
					t.Fatalf("seed %d: batch %d begins with what the one before had room for (%v)", seed, i, err)
				}
			}
			back = append(back, got...)
		}
		want, _ := Encode(all)
		if got, _ := Encode(back); len(all) > 0 && !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %s, want %s", seed, got, want)
		}
	}
	job := &controller.Job{Name: strings.Repeat("x", 200)}
	odd := &controller.Job{Name: "odd", Weight: math.NaN()}
	batches, err := EncodeWithin([]Entry{{Kind: Planned}, {Kind: JobAccepted, Job: job},
		{Kind: JobAccepted, Job: odd},
		{Kind: Withdrawn}}, 100)
	if err == nil || !strings.Contains(err.Error(), "JobAccepted: 2") ||
		!strings.Contains(err.Error(), "NaN") ||
		len(batches) != 1 {
		t.Errorf("%d batches, %v", len(batches), err)
	}
	if got, err := Decode(batches[0]); err != nil || len(got) != 2 || got[1].Kind != Withdrawn {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDecodeUnknown: an entry with a key or a value that is not known has no kind and is named in the
// error; the others of its batch stand.
func TestDecodeUnknown(t *testing.T) {
	for _, text := range []string{`{"k":15,"d":1,"colour":"red"}`, `{"k":15,"d":"one"}`,
		`{"k":1,"job":{"Colour":"red"}}`} {
		got, err := Decode([]byte(`[{"k":15,"d":1},` + text + `,{"k":15,"d":2}]`))
		if err == nil || !strings.Contains(err.Error(), "entry 1") || len(got) != 3 ||
			got[0].Kind == 0 || got[1].Kind != 0 ||
			got[2].Device != 2 {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
