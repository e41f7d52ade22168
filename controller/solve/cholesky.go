package solve

import (
	"math"
	"math/bits"
	"slices"
)

// cholesky factors symmetric positive definite matrices of one pattern, sparsely. The pattern is
// eliminated by minimum degree, exactly: rows are sets of bits, so a thousand rows cost 128 kB.
type cholesky struct {
	n     int
	order []int32   // elimination position → row
	place []int32   // row → position
	below [][]int32 // by position: positions of entries below the diagonal, ascending
	val   [][]float64
	diag  []float64
	work  []float64
	next  []int32 // by position: columns that touch it next, as lists
	head  []int32
	from  []int32 // by column: how many of its entries have been passed
}

// pattern is which entries of a matrix can differ from zero, as sets of bits by row.
type pattern struct {
	words int
	rows  [][]uint64
}

func newPattern(n int) *pattern {
	p := &pattern{words: (n + 63) / 64, rows: make([][]uint64, n)}
	all := make([]uint64, n*p.words)
	for i := range p.rows {
		p.rows[i] = all[i*p.words : (i+1)*p.words]
	}
	return p
}

func (p *pattern) add(i, j int32) {
	p.rows[i][j/64] |= 1 << (j % 64)
	p.rows[j][i/64] |= 1 << (i % 64)
}

// symmetric is a sparse symmetric matrix, both halves of it.
type symmetric struct {
	at  [][]int32 // by row, ascending
	val [][]float64
}

// matrix returns a matrix of a pattern, all zero.
func (p *pattern) matrix() *symmetric {
	m := &symmetric{make([][]int32, len(p.rows)), make([][]float64, len(p.rows))}
	for i, row := range p.rows {
		for w, word := range row {
			for ; word != 0; word &= word - 1 {
				m.at[i] = append(m.at[i], int32(64*w+bits.TrailingZeros64(word)))
			}
		}
		m.val[i] = make([]float64, len(m.at[i]))
	}
	return m
}

// outer adds f·v·vᵀ, where v has entries val in the rows at.
func (m *symmetric) outer(f float64, at []int32, val []float64) {
	for i, r := range at {
		fr := f * val[i]
		cols, row, k := m.at[r], m.val[r], 0
		for j, c := range at {
			for cols[k] != c {
				k++
			}
			row[k] += fr * val[j]
		}
	}
}

// clear makes all entries zero.
func (m *symmetric) clear() {
	for _, row := range m.val {
		clear(row)
	}
}

// analyse finds an order of elimination and where entries will be. It consumes the pattern.
func analyse(p *pattern) *cholesky {
	n := len(p.rows)
	c := &cholesky{n: n, place: make([]int32, n), below: make([][]int32, n), val: make([][]float64, n),
		diag: make([]float64, n), work: make([]float64, n), next: make([]int32, n), head: make([]int32, n),
		from: make([]int32, n)}
	degree := make([]int, n)
	for i, row := range p.rows {
		row[i/64] &^= 1 << (i % 64)
		degree[i] = count(row)
	}
	done := make([]bool, n)
	for k := range n {
		least := -1
		for i, d := range degree {
			if !done[i] && (least < 0 || d < degree[least]) {
				least = i
			}
		}
		c.order, c.place[least], done[least] = append(c.order, int32(least)), int32(k), true
		c.below[k] = eliminate(p, least, degree)
	}
	for k, rows := range c.below {
		for i, r := range rows {
			rows[i] = c.place[r]
		}
		slices.Sort(rows)
		c.val[k] = make([]float64, len(rows))
	}
	return c
}

// eliminate joins the neighbours of a row with each other and returns them.
func eliminate(p *pattern, row int, degree []int) []int32 {
	set := p.rows[row]
	var out []int32
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			out = append(out, int32(64*w+bits.TrailingZeros64(word)))
		}
	}
	for _, r := range out {
		to := p.rows[r]
		for w, word := range set {
			to[w] |= word
		}
		to[r/64] &^= 1 << (r % 64)
		to[row/64] &^= 1 << (row % 64)
		degree[r] = count(to)
	}
	return out
}

func count(set []uint64) int {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// factor factors a matrix of the pattern. A diagonal that rounding has left at or below zero is taken
// for infinite: its unknown stays zero.
func (c *cholesky) factor(m *symmetric) {
	for i := range c.head {
		c.head[i] = -1
	}
	for k, row := range c.order {
		w := c.work
		for i, j := range m.at[row] {
			if at := c.place[j]; int(at) >= k {
				w[at] = m.val[row][i]
			}
		}
		whole := w[k]
		for j := c.head[k]; j >= 0; {
			after := c.next[j]
			c.subtract(j, w)
			j = after
		}
		c.finish(k, w, whole)
	}
}

// subtract takes column j's part from the column that its next entry is in, and moves it on to the one
// after.
func (c *cholesky) subtract(j int32, w []float64) {
	rows, val := c.below[j][c.from[j]:], c.val[j][c.from[j]:]
	f := val[0]
	for i, at := range rows {
		w[at] -= f * val[i]
	}
	c.from[j]++
	if len(rows) > 1 {
		c.next[j], c.head[rows[1]] = c.head[rows[1]], j
	}
}

// finish divides column k by its diagonal.
func (c *cholesky) finish(k int, w []float64, whole float64) {
	d := w[k]
	w[k] = 0
	if !(d > whole*1e-15) || math.IsInf(d, 1) {
		d = math.Inf(1)
	}
	c.diag[k] = math.Sqrt(d)
	for i, at := range c.below[k] {
		c.val[k][i] = w[at] / c.diag[k]
		w[at] = 0
	}
	c.from[k] = 0
	if rows := c.below[k]; len(rows) > 0 {
		c.next[k], c.head[rows[0]] = c.head[rows[0]], int32(k)
	}
}

// solve replaces b by the solution.
func (c *cholesky) solve(b []float64) {
	w := c.work
	for k, r := range c.order {
		w[k] = b[r]
	}
	for k := range c.n {
		w[k] /= c.diag[k]
		for i, at := range c.below[k] {
			w[at] -= c.val[k][i] * w[k]
		}
	}
	for k := c.n - 1; k >= 0; k-- {
		for i, at := range c.below[k] {
			w[k] -= c.val[k][i] * w[at]
		}
		w[k] /= c.diag[k]
	}
	for k, r := range c.order {
		b[r] = w[k]
		w[k] = 0
	}
}
