// Package programtest has a program that answers a policy's questions, for tests: it routes as the part
// ecmp does.
package programtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"lightloom/controller/policy/program"
	"lightloom/controller/policy/route"
	"lightloom/southbound"
)

// Told counts what a program was told. Again are rows that it knew.
type Told struct {
	Questions, Rows, Again, Pairs int
}

// pair is two racks, in order.
type pair [2]southbound.RackID

// ECMP routes by ECMP until in ends. It fails where it is told what it knows, or not told what it
// needs. begin is called after the first line and answers it.
func ECMP(in io.Reader, out io.Writer, begin func() error,
	change func(*program.Answer)) (told Told, err error) {
	lines, to := bufio.NewReader(in), json.NewEncoder(out)
	var h program.Hello
	if err := hear(lines, &h); err != nil {
		return told, err
	}
	if err := begin(); err != nil {
		return told, err
	}
	paths, rows := map[pair][]program.Path{}, map[program.Row]bool{}
	for {
		var q program.Question
		if err := hear(lines, &q); errors.Is(err, io.EOF) {
			return told, nil
		} else if err != nil {
			return told, err
		}
		for _, p := range q.Paths {
			if known, ok := paths[pair{p.From, p.To}]; ok && slices.EqualFunc(known, p.Paths, same) {
				return told, fmt.Errorf("the paths from rack %d to %d are told twice", p.From, p.To)
			}
			paths[pair{p.From, p.To}] = p.Paths
		}
		a, err := answer(&h, &q, paths)
		if err != nil {
			return told, err
		}
		told.Questions, told.Rows, told.Pairs = told.Questions+1, told.Rows+len(q.Rows), told.Pairs+len(q.Paths)
		for _, r := range q.Rows {
			rows[r] = true
		}
		told.Again = told.Rows - len(rows)
		change(a)
		if err := to.Encode(a); err != nil {
			return told, err
		}
	}
}

func same(a, b program.Path) bool { return a.Number == b.Number && slices.Equal(a.Links, b.Links) }

// answer hashes each row over the shortest of its paths.
func answer(h *program.Hello, q *program.Question, paths map[pair][]program.Path) (*program.Answer, error) {
	a := &program.Answer{}
	for _, r := range q.Rows {
		racks := h.Fabric.HostRack
		opts := paths[pair{southbound.RackID(racks[r.Src]), southbound.RackID(racks[r.Dst])}]
		if len(opts) == 0 {
			return nil, fmt.Errorf("no paths are told for %d→%d", r.Src, r.Dst)
		}
		n := 1
		for n < len(opts) && len(opts[n].Links) == len(opts[0].Links) {
			n++
		}
		a.Route = append(a.Route, opts[route.Hash(h.Seed, r.Coflow, r.Src, r.Dst)%uint64(n)].Number)
	}
	return a, nil
}

func hear(in *bufio.Reader, to any) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, to)
}
