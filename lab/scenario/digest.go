package scenario

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"

	"lightloom/controller"
)

// Digest hashes the content of jobs: flows as numbers, because their text would be the largest thing of
// a run, the rest as JSON.
func Digest(jobs []controller.Job) string {
	h := sha256.New()
	var buf []byte
	for i := range jobs {
		j := jobs[i]
		j.Edges = slices.Clone(j.Edges)
		buf = buf[:0]
		for k := range j.Edges {
			for _, f := range j.Edges[k].Flows {
				buf = binary.AppendVarint(binary.AppendVarint(buf, int64(f.Src)), int64(f.Dst))
				buf = binary.AppendVarint(binary.AppendVarint(buf, int64(f.Bytes)), int64(f.Count))
			}
			buf = append(buf, 0xff)
			j.Edges[k].Flows = nil
		}
		b, err := json.Marshal(&j)
		if err != nil {
			panic("run: " + err.Error()) // jobs hold nothing that JSON refuses
		}
		h.Write(b)
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
