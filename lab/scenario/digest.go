package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"lightloom/controller"
)

// Digest is that of the jobs.
func (s *Prepared) Digest() string {
	if s.digest == "" {
		s.digest = digest(s.Jobs)
	}
	return s.digest
}

// digest hashes the content of jobs: flows as numbers, because their text would be the largest thing of
// a run, the rest as JSON.
func digest(jobs []controller.Job) string {
	h := sha256.New()
	var buf []byte
	var text bytes.Buffer
	var j controller.Job
	edges := []controller.Edge{}
	enc := json.NewEncoder(&text)
	for i := range jobs {
		edges = append(edges[:0], jobs[i].Edges...)
		j = jobs[i]
		if buf = buf[:0]; j.Edges != nil {
			j.Edges = edges
		}
		for k := range j.Edges {
			for _, f := range j.Edges[k].Flows {
				buf = binary.AppendVarint(binary.AppendVarint(buf, int64(f.Src)), int64(f.Dst))
				buf = binary.AppendVarint(binary.AppendVarint(buf, int64(f.Bytes)), int64(f.Count))
			}
			buf = append(buf, 0xff)
			j.Edges[k].Flows = nil
		}
		text.Reset()
		if err := enc.Encode(&j); err != nil {
			panic("run: " + err.Error()) // jobs hold nothing that JSON refuses
		}
		h.Write(text.Bytes()[:text.Len()-1]) // without a line's end
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
