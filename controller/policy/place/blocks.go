package place

import (
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// The places of a job's input blocks are drawn from the seed and the job alone: they were fixed before
// the job came, and every call returns the same ones.

// blockCache keeps what has been drawn, since a job is asked about many times. It is scratch: what it
// holds would be drawn again.
type blockCache struct {
	drawn map[controller.JobID][]southbound.RackID
	order []controller.JobID
}

// cached is how many jobs' blocks are kept.
const cached = 256

func (c *blockCache) of(id controller.JobID, draw func() []southbound.RackID) []southbound.RackID {
	if b, ok := c.drawn[id]; ok {
		return b
	}
	if c.drawn == nil {
		c.drawn = map[controller.JobID][]southbound.RackID{}
	}
	if len(c.order) == cached {
		delete(c.drawn, c.order[0])
		c.order = c.order[1:]
	}
	c.drawn[id] = draw()
	c.order = append(c.order, id)
	return c.drawn[id]
}

// scatter puts the copies of each block on racks drawn at random, all different if there are enough
// racks, as a file system without placement hints does.
func scatter(v *controller.View, j *controller.Job) []southbound.RackID {
	r := v.Rand("blocks", uint64(j.ID))
	blocks := make([]southbound.RackID, 0, guideline.Replicas*j.Tasks())
	for range j.Tasks() {
		blocks = append(blocks, distinct(r, v.Fabric.Racks)...)
	}
	return named(j, blocks)
}

// Blocks are the racks with copies of what tasks of a job read, controller.Replicas of each, for a part that
// places no data: where the job says, or on racks drawn at random. They are nil where no task reads any.
func Blocks(v *controller.View, j *controller.Job) []southbound.RackID {
	if !j.ReadsBlocks() {
		return nil
	}
	return scatter(v, j)
}

// named puts the blocks of tasks whose job says where they lie there.
func named(j *controller.Job, blocks []southbound.RackID) []southbound.RackID {
	t := 0
	for s := range j.Stages {
		for i := range j.Stages[s].Tasks {
			if racks := j.Stages[s].Tasks[i].Replicas; len(racks) > 0 {
				for k := range guideline.Replicas {
					blocks[guideline.Replicas*t+k] = racks[k%len(racks)]
				}
			}
			t++
		}
	}
	return blocks
}

// distinct draws as many racks as a block has copies.
func distinct(r *rand.Rand, racks int) []southbound.RackID {
	out := make([]southbound.RackID, 0, guideline.Replicas)
	for len(out) < guideline.Replicas {
		rack := southbound.RackID(r.IntN(racks))
		again := false
		for _, x := range out {
			again = again || x == rack
		}
		if !again || len(out) >= racks {
			out = append(out, rack)
		}
	}
	return out
}

// evenly puts copy k of every block on the racks of set k, block by block in turn.
func evenly(j *controller.Job, sets [guideline.Replicas][]int) []southbound.RackID {
	blocks := make([]southbound.RackID, 0, guideline.Replicas*j.Tasks())
	for i := range j.Tasks() {
		for _, set := range sets {
			blocks = append(blocks, southbound.RackID(set[i%len(set)]))
		}
	}
	return blocks
}

// readBlocks puts the block of each task that reads a part of its own, of a parent's output or a data
// set, where most of that part lies; nil where no task does. Other tasks have no block.
func readBlocks(v *controller.View, j *controller.Job) []southbound.RackID {
	var blocks []southbound.RackID
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Reads == nil || e.Reads.Kind != controller.OneToOne || len(e.Reads.Hosts) == 0 {
			continue
		}
		if blocks == nil {
			blocks = slices.Repeat([]southbound.RackID{-1}, guideline.Replicas*j.Tasks())
		}
		first, end := j.StageTasks(e.To)
		numbers := make([]southbound.HostID, end-first)
		for t := range numbers {
			numbers[t] = southbound.HostID(t)
		}
		most := make([]pathmap.Bytes, end-first)
		for _, f := range e.ReadBy(numbers) {
			if f.Bytes > most[f.Dst] {
				most[f.Dst] = f.Bytes
				at := guideline.Replicas * (first + int(f.Dst))
				copy(blocks[at:at+guideline.Replicas],
					slices.Repeat([]southbound.RackID{v.HostRack(f.Src)}, guideline.Replicas))
			}
		}
	}
	return blocks
}
