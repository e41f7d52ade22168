package sweep

import (
	"context"
	"fmt"

	"lightloom/lab/console"
)

// Engine makes the runs of groups, anywhere, and calls made after each. It returns when all have been tried once.
// Runs that are not there then are asked for again.
type Engine func(ctx context.Context, groups []Group, made func()) error

// Runs are what engines make: groups of runs, which leave files in a folder.
type Runs struct {
	Folder Folder
	Keys   func(Group) []Key
	Seeds  int    // groups of each case
	ByHand string // the command that makes groups, before --groups
}

// missing are the groups that are not whole.
func (r *Runs) missing(of []Group) []Group {
	var out []Group
	for _, g := range of {
		for _, k := range r.Keys(g) {
			if !r.Folder.has(k) {
				out = append(out, g)
				break
			}
		}
	}
	return out
}

// count counts the runs of groups that are missing.
func (r *Runs) count(groups []Group) (n int) {
	for _, g := range groups {
		for _, k := range r.Keys(g) {
			if !r.Folder.has(k) {
				n++
			}
		}
	}
	return n
}

// mostFruitless is how often an engine may be asked in a row without any new result.
const mostFruitless = 5

// Fill asks an engine for what is missing of groups until nothing is. It calls made after each run.
func (r *Runs) Fill(ctx context.Context, engine Engine, groups []Group, made func()) error {
	fruitless := 0
	for groups = r.missing(groups); len(groups) > 0; groups = r.missing(groups) {
		before := r.count(groups)
		if err := engine(ctx, groups, made); err != nil {
			return err
		}
		if fruitless++; r.count(groups) < before || len(r.missing(groups)) < len(groups) {
			fruitless = 0
		}
		if fruitless == mostFruitless {
			return fmt.Errorf("%s ended %d times without any result: start one by hand to see why: %s --groups %s",
				console.Count(len(groups), "task"), fruitless, r.ByHand, Text(groups[:1]))
		}
	}
	return nil
}
