package solve

import (
	"cmp"
	"math"
	"slices"
)

// eta is one factor of the inverse of a basis: the identity but for one column.
type eta struct {
	row   int32
	pivot float64
	at    []int32
	val   []float64
}

// inverse is the inverse of a basis as a product of etas (Dantzig and Orchard-Hays 1954). Columns with
// one entry leave nothing to multiply, so a basis that is mostly slacks costs what its other columns
// cost.
type inverse struct {
	etas []eta
	work []float64 // by row; zero between calls
	seen []bool    // by row: it is among entries; false between calls
	// entries are the rows where work can be other than zero.
	entries []int32
}

// ahead solves B·x = x in place.
func (f *inverse) ahead(x []float64) {
	for k := range f.etas {
		e := &f.etas[k]
		t := x[e.row]
		if t == 0 {
			continue
		}
		t /= e.pivot
		x[e.row] = t
		for i, at := range e.at {
			x[at] -= e.val[i] * t
		}
	}
}

// back solves y·B = y in place.
func (f *inverse) back(y []float64) {
	for k := len(f.etas) - 1; k >= 0; k-- {
		e := &f.etas[k]
		t := y[e.row]
		for i, at := range e.at {
			t -= e.val[i] * y[at]
		}
		y[e.row] = t / e.pivot
	}
}

// replace makes the column whose transformed entries are x take the place of a row's.
func (f *inverse) replace(row int32, x []float64) {
	n := 0
	for _, v := range x {
		if v != 0 {
			n++
		}
	}
	e := eta{row: row, pivot: x[row], at: make([]int32, 0, n), val: make([]float64, 0, n)}
	for i, v := range x {
		if v != 0 && int32(i) != row {
			e.at, e.val = append(e.at, int32(i)), append(e.val, v)
		}
	}
	if e.pivot != 1 || len(e.at) > 0 {
		f.etas = append(f.etas, e)
	}
}

// invert factors the columns of a basis anew and returns which of them belongs to each row; -1 where
// the columns depend on each other so that none is left for the row.
func (f *inverse) invert(rows int, columns []Column) []int {
	f.etas = f.etas[:0]
	f.work, f.seen = make([]float64, rows), make([]bool, rows)
	owner := make([]int, rows)
	for i := range owner {
		owner[i] = -1
	}
	for _, o := range order(rows, columns) {
		c := &columns[o.column]
		if len(c.Row) == 1 && owner[c.Row[0]] < 0 && math.Abs(c.Coef[0]) >= tiny { // no eta touches it
			owner[c.Row[0]] = o.column
			if c.Coef[0] != 1 {
				f.etas = append(f.etas, eta{row: c.Row[0], pivot: c.Coef[0]})
			}
			continue
		}
		f.load(c)
		row := o.row
		if row < 0 || math.Abs(f.work[row]) < tiny {
			row = f.largest(owner)
		}
		if row >= 0 {
			owner[row] = o.column
			f.keep(row)
		}
		for _, r := range f.entries {
			f.work[r], f.seen[r] = 0, false
		}
	}
	return owner
}

// load makes work the column's transformed entries. It is ahead for what is mostly zero.
func (f *inverse) load(c *Column) {
	f.entries = append(f.entries[:0], c.Row...)
	for i, r := range c.Row {
		f.work[r], f.seen[r] = c.Coef[i], true
	}
	for k := range f.etas {
		e := &f.etas[k]
		t := f.work[e.row]
		if t == 0 {
			continue
		}
		t /= e.pivot
		f.work[e.row] = t
		for i, at := range e.at {
			if f.work[at] -= e.val[i] * t; !f.seen[at] {
				f.seen[at] = true
				f.entries = append(f.entries, at)
			}
		}
	}
	slices.Sort(f.entries)
}

// keep is replace by what is loaded.
func (f *inverse) keep(row int32) {
	e := eta{row: row, pivot: f.work[row]}
	for _, r := range f.entries {
		if v := f.work[r]; v != 0 && r != row {
			e.at, e.val = append(e.at, r), append(e.val, v)
		}
	}
	if e.pivot != 1 || len(e.at) > 0 {
		f.etas = append(f.etas, e)
	}
}

// tiny is the pivot below which columns count as dependent. Programs are scaled so that entries are
// around 1.
const tiny = 1e-10

// largest returns the row of the largest entry among those without an owner; -1 if all entries are tiny.
func (f *inverse) largest(owner []int) int32 {
	best, at := tiny, int32(-1)
	for _, i := range f.entries {
		if v := math.Abs(f.work[i]); owner[i] < 0 && v > best {
			best, at = v, i
		}
	}
	return at
}

type pivot struct {
	column int
	row    int32 // -1: to be found
}

// order lists columns so that factoring them in turn fills in little: first those alone in a row, or
// with one row left, then the rest by their number of entries.
func order(rows int, columns []Column) []pivot {
	inRow := make([][]int32, rows)
	left, count := make([]int, len(columns)), make([]int, rows) // rows left of a column, columns left of a row
	for j := range columns {
		left[j] = len(columns[j].Row)
		for _, r := range columns[j].Row {
			inRow[r] = append(inRow[r], int32(j))
			count[r]++
		}
	}
	o := &ordering{columns: columns, inRow: inRow, left: left, count: count, doneRow: make([]bool, rows),
		done: make([]bool, len(columns))}
	o.singletons()
	rest := o.out
	n := len(rest)
	for j := range columns {
		if !o.done[j] {
			rest = append(rest, pivot{j, -1})
		}
	}
	slices.SortStableFunc(rest[n:], func(a, b pivot) int {
		return cmp.Or(cmp.Compare(left[a.column], left[b.column]), cmp.Compare(a.column, b.column))
	})
	return rest
}

type ordering struct {
	columns []Column
	inRow   [][]int32
	left    []int
	count   []int
	doneRow []bool
	done    []bool
	out     []pivot
}

// singletons takes columns with one row left and rows with one column left until there is none.
func (o *ordering) singletons() {
	var cols, rows []int32
	for j, n := range o.left {
		if n == 1 {
			cols = append(cols, int32(j))
		}
	}
	for r, n := range o.count {
		if n == 1 {
			rows = append(rows, int32(r))
		}
	}
	for len(cols)+len(rows) > 0 {
		column, row := int32(-1), int32(-1)
		if n := len(cols); n > 0 {
			column, cols = cols[n-1], cols[:n-1]
			row = o.openRow(column)
		} else {
			n := len(rows)
			row, rows = rows[n-1], rows[:n-1]
			column = o.openColumn(row)
		}
		if row < 0 || column < 0 || o.done[column] || o.doneRow[row] {
			continue
		}
		o.out = append(o.out, pivot{int(column), row})
		o.done[column], o.doneRow[row] = true, true
		for _, j := range o.inRow[row] {
			if o.left[j]--; o.left[j] == 1 && !o.done[j] {
				cols = append(cols, j)
			}
		}
		for _, r := range o.columns[column].Row {
			if o.count[r]--; o.count[r] == 1 && !o.doneRow[r] {
				rows = append(rows, r)
			}
		}
	}
}

func (o *ordering) openRow(column int32) int32 {
	for _, r := range o.columns[column].Row {
		if !o.doneRow[r] {
			return r
		}
	}
	return -1
}

func (o *ordering) openColumn(row int32) int32 {
	for _, j := range o.inRow[row] {
		if !o.done[j] {
			return j
		}
	}
	return -1
}
