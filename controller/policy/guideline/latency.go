package guideline

import (
	"math"
	"time"

	"lightloom/pathmap"
)

// Job is what is known or predicted of a job of one map and one reduce stage.
type Job struct {
	Input, Shuffle    pathmap.Bytes
	Maps, Reduces     int
	MapTime, RedTime  time.Duration // of one task
	MapDisk, RedWrite time.Duration // beside them, of every wave of maps and of reduces: zero unless a model has them
}

// Cluster is the cluster that guidelines are computed for.
type Cluster struct {
	Racks    int
	Slots    int                   // tasks that a rack runs at once
	EPS, OCS pathmap.BitsPerSecond // of a rack, towards the packet core and the optical switch
	Delta    time.Duration         // the reconfiguration delay of a circuit move
	Elephant pathmap.Bytes         // T_e: bytes between two racks from which a circuit is worth it
	Waves    int                   // W of section VI: circuits that a rack can have at once; 0 means 1
}

func (c *Cluster) waves() int { return max(1, c.Waves) }

// Form is a reading of l^shu, the time of the shuffle in the latency response model.
//
// The document's Figure 4 was not made with its Equation 10: that rises with R_red, and the printed
// rows are flat or fall. All 225 cells follow the form called Figure4 here.
type Form uint8

const (
	// Figure4 takes circuits to work side by side: D_shu / (BW_OCS · min(R_map, R_red)) where the shuffle
	// is an elephant between every two racks, else D_shu / (BW_EPS · R_map).
	Figure4 Form = iota
	// Equation10 is D_shu · (R_red − 1) / (R_map · R_red) over BW_OCS or BW_EPS, as printed.
	Equation10
)

func (f Form) String() string {
	if f == Equation10 {
		return "equation-10"
	}
	return "figure-4"
}

// Optical reports whether a shuffle that is spread evenly over the given numbers of map and reduce
// racks goes over circuits: between any two of them it holds at least T_e (Equation 4).
func (c *Cluster) Optical(shuffle pathmap.Bytes, maps, reduces int) bool {
	return shuffle > 0 && shuffle/pathmap.Bytes(maps*reduces) >= c.Elephant
}

// Latency is L(R_map, R_red) of Equation 8: waves of maps, the shuffle, waves of reduces, one after the
// other.
func (c *Cluster) Latency(f Form, j *Job, maps, reduces int) time.Duration {
	return Waves(j.Maps, c.Slots*maps, j.MapTime+j.MapDisk) + c.shuffle(f, j.Shuffle, maps, reduces) +
		Waves(j.Reduces, c.Slots*reduces, j.RedTime+j.RedWrite)
}

// Waves is the time of a number of equal tasks in a number of slots, at most longest: a prediction can
// be any time.
func Waves(tasks, slots int, each time.Duration) time.Duration {
	slots = max(slots, 1)
	n := time.Duration((tasks + slots - 1) / slots)
	if n > 0 && each > longest/n {
		return longest
	}
	return n * each
}

// longest bounds a time, so that sums of a few do not overflow: 73 years.
const longest = time.Duration(math.MaxInt64 / 4)

// shuffle is l^shu(R_map, R_red) of Equation 9, in the form asked for.
func (c *Cluster) shuffle(f Form, bytes pathmap.Bytes, maps, reduces int) time.Duration {
	optical := c.Optical(bytes, maps, reduces)
	rate := c.EPS
	if optical {
		rate = c.OCS
	}
	if f == Equation10 {
		cross := pathmap.Bytes(float64(bytes) / float64(maps*reduces) * float64(reduces-1))
		return cross.Over(rate)
	}
	if optical {
		maps = min(maps, reduces)
	}
	return bytes.Over(rate * pathmap.BitsPerSecond(maps))
}

// Shape is on how many racks a job's maps and reduces stand.
type Shape struct{ Maps, Reduces int }

// slack is how far above the least latency a shape in the green zone can be.
const slack = 0.05

// Zone returns the green zone of Figure 4 in order of (Maps, Reduces), Reduces up to most racks: the
// shapes whose shuffle goes over circuits and whose latency is within 5 % of the least of such. The
// zone is a colour in the document; this definition is ours. It is empty where no shape lights a
// circuit.
func (c *Cluster) Zone(f Form, j *Job, most int) []Shape {
	most = min(most, c.Racks)
	least := time.Duration(-1)
	for m := 1; m <= most; m++ {
		for r := 1; r <= most; r++ {
			if !c.Optical(j.Shuffle, m, r) {
				break // and no wider one does
			}
			if l := c.Latency(f, j, m, r); least < 0 || l < least {
				least = l
			}
		}
	}
	var zone []Shape
	for m := 1; m <= most; m++ {
		for r := 1; r <= most && c.Optical(j.Shuffle, m, r); r++ {
			if float64(c.Latency(f, j, m, r)) <= (1+slack)*float64(least) {
				zone = append(zone, Shape{m, r})
			}
		}
	}
	return zone
}
