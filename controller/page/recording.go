package page

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Recording is what was kept of a run that is over: the page shows it in the place of a controller.
type Recording struct {
	Of   Fabric
	Name string // of the run
	Note string // what a reader must know of what is shown; empty: nothing
	Rows []Row
}

// Row is a run under one policy.
type Row struct {
	Policy   string
	Instants []float64 // seconds of the run, rising: what the page can show
	Look     func(at float64) *Look
}

// recorded is what a browser is told of a recording.
type recorded struct {
	Recorded string   `json:"recorded"`
	Note     string   `json:"note,omitempty"`
	Rows     []string `json:"rows"`
	End      float64  `json:"end"` // of the longest row
}

func (r *Recording) about() *recorded {
	if r == nil {
		return nil
	}
	out := &recorded{Recorded: r.Name, Note: r.Note}
	for i := range r.Rows {
		out.Rows = append(out.Rows, r.Rows[i].Policy)
		for _, at := range r.Rows[i].Instants {
			out.End = max(out.End, at)
		}
	}
	return out
}

// frames answers with all instants of a row, each as what has changed since the one before.
func (s *Server) frames(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("row"))
	if err != nil || n < 0 || n >= len(s.cfg.Recording.Rows) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(s.cfg.Recording.Rows[n].json()) // a browser that has gone wants none
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = z.Write(s.cfg.Recording.Rows[n].json()) // likewise
	_ = z.Close()
}

func (r *Row) json() []byte {
	var out bytes.Buffer
	var before []section
	sep := byte('[')
	for _, at := range r.Instants {
		now := sections(r.Look(at))
		out.WriteByte(sep)
		sep = '{'
		for i, x := range now {
			if before == nil || !bytes.Equal(x.json, before[i].json) {
				out.WriteByte(sep)
				fmt.Fprintf(&out, "%q:%s", x.name, x.json)
				sep = ','
			}
		}
		if sep == '{' {
			out.WriteByte('{')
		}
		out.WriteByte('}')
		before, sep = now, ','
	}
	if len(r.Instants) == 0 {
		out.WriteByte('[')
	}
	out.WriteByte(']')
	return out.Bytes()
}
