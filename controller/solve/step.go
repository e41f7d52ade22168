package solve

import "math"

// direction is a step of all unknowns.
type direction struct{ q, z, s, price []float64 }

// central is how far below their mean the product of a pair may fall (Wright 1997, the neighbourhood N−∞).
const central = 1e-3

// step takes one step of predictor and corrector, or where that leads nowhere one towards the central
// path; false if rounding leaves none.
func (in *interior) step() bool {
	in.assemble()
	n := float64(len(in.q) + len(in.s))
	target := make([]float64, len(in.q)+len(in.s)) // what products of pairs should be
	ahead := in.solve(target)
	mu, _ := in.product(direction{}, 0)
	after, _ := in.product(ahead, in.length(ahead, 1))
	aim := mu / n * max(math.Pow(after/mu, 3), 1e-4)
	for j := range in.q {
		target[j] = aim - ahead.q[j]*ahead.z[j]
	}
	for i := range in.s {
		target[len(in.q)+i] = aim - ahead.s[i]*ahead.price[i]
	}
	move := in.solve(target)
	length := in.kept(move)
	if length < 0.1 {
		for i := range target {
			target[i] = mu / n
		}
		if back := in.solve(target); in.kept(back) > length {
			move, length = back, in.kept(back)
		}
	}
	if !(length > 1e-10) {
		return false
	}
	for j := range in.q {
		in.q[j] += length * move.q[j]
		in.z[j] += length * move.z[j]
	}
	for i := range in.price {
		in.price[i] += length * move.price[i]
	}
	in.state()
	mu, _ = in.product(direction{}, 0)
	in.mu = mu / n
	return !math.IsNaN(in.mu) && in.mu > 0
}

// kept returns how far a step can go without leaving the neighbourhood of the central path, or going
// further away from it than it was.
func (in *interior) kept(d direction) float64 {
	n := float64(len(in.q) + len(in.s))
	sum, least := in.product(direction{}, 0)
	floor := min(central, least/sum*n)
	length := in.length(d, 0.995)
	for range 40 {
		if sum, least := in.product(d, length); least >= floor*sum/n*0.999 {
			return length
		}
		length *= 0.7
	}
	return 0
}

// assemble factors the normal equations: Σ over owners of A·K⁻¹·Aᵀ, and slack over price on the
// diagonal, where K is a diagonal of z/q and the owner's second derivative times a matrix of ones. It
// adds an owner's mean column and how its paths differ from that, so that nothing is subtracted from
// what is about as large.
func (in *interior) assemble() {
	in.normal.clear()
	mean, val := make([]float64, len(in.rows)), []float64(nil)
	for i, own := range in.own {
		if len(own) == 0 {
			continue
		}
		sum := 0.0
		for _, j := range own {
			sum += in.q[j] / in.z[j]
		}
		rows := in.union(own)
		for _, j := range own {
			for k, r := range in.paths[j].Row {
				mean[r] += in.q[j] / in.z[j] / sum * in.paths[j].Coef[k]
			}
		}
		val = val[:0]
		for _, r := range rows {
			val = append(val, mean[r])
		}
		in.normal.outer(sum/(1+in.second[i]*sum), rows, val)
		if len(own) > 1 {
			in.apart(own, rows, mean)
		}
		for _, r := range rows {
			mean[r] = 0
		}
	}
	one := []float64{1}
	for i := range in.s {
		in.normal.outer(in.s[i]/in.price[i], []int32{int32(i)}, one)
	}
	in.chol.factor(in.normal)
}

// apart adds how the paths of an owner differ from their mean.
func (in *interior) apart(own, rows []int32, mean []float64) {
	val := make([]float64, len(rows))
	for _, j := range own {
		q, k := &in.paths[j], 0
		for i, r := range rows {
			val[i] = -mean[r]
			if k < len(q.Row) && q.Row[k] == r {
				val[i] += q.Coef[k]
				k++
			}
		}
		in.normal.outer(in.q[j]/in.z[j], rows, val)
	}
}

// solve returns the Newton step after which products of pairs are about their targets.
func (in *interior) solve(target []float64) direction {
	n, m := len(in.q), len(in.s)
	g := make([]float64, n) // what K·Δq + Aᵀ·Δprice is to be
	for j := range in.q {
		q := &in.paths[j]
		residual := in.first[q.Owner] + q.cost(in.price) - in.z[j]
		g[j] = -residual + target[j]/in.q[j] - in.z[j]
	}
	x := in.divide(g)
	price := make([]float64, m)
	for j := range x {
		q := &in.paths[j]
		for i, r := range q.Row {
			price[r] += q.Coef[i] * x[j]
		}
	}
	for i := range price {
		price[i] += target[n+i]/in.price[i] - in.s[i]
	}
	in.chol.solve(price)
	for j := range g {
		g[j] -= in.paths[j].cost(price)
	}
	d := direction{q: in.divide(g), z: make([]float64, n), s: make([]float64, m), price: price}
	for j := range d.q {
		d.z[j] = (target[j]-in.z[j]*d.q[j])/in.q[j] - in.z[j]
		q := &in.paths[j]
		for i, r := range q.Row {
			d.s[r] -= q.Coef[i] * d.q[j]
		}
	}
	return d
}

// divide returns K⁻¹·g.
func (in *interior) divide(g []float64) []float64 {
	x := make([]float64, len(g))
	for i, own := range in.own {
		sum, mean := 0.0, 0.0
		for _, j := range own {
			sum += in.q[j] / in.z[j]
		}
		for _, j := range own {
			mean += in.q[j] / in.z[j] / sum * g[j]
		}
		for _, j := range own {
			x[j] = in.q[j] / in.z[j] * (g[j] - mean + mean/(1+in.second[i]*sum))
		}
	}
	return x
}

// length returns how far a step can go, and keep a part of everything; an owner's rate changes by a
// factor of four at most, for its cost is curved.
func (in *interior) length(d direction, part float64) float64 {
	most := 1 / part
	for _, pair := range [...][2][]float64{{in.q, d.q}, {in.s, d.s}, {in.z, d.z}, {in.price, d.price}} {
		for i, v := range pair[1] {
			if x := pair[0][i]; v < 0 {
				most = min(most, -x/v)
			}
		}
	}
	for i, own := range in.own {
		change := 0.0
		for _, j := range own {
			change += d.q[j]
		}
		if grow := change / in.rate[i]; len(own) > 0 && grow > 0 {
			most = min(most, 3/grow)
		} else if len(own) > 0 && grow < 0 {
			most = min(most, -0.75/grow)
		}
	}
	return most * part
}

// product returns the sum of the products of pairs after a step, and the least of them.
func (in *interior) product(d direction, length float64) (sum, least float64) {
	least = math.Inf(1)
	add := func(x, y, dx, dy []float64) {
		for i := range x {
			p := x[i] * y[i]
			if dx != nil {
				p = (x[i] + length*dx[i]) * (y[i] + length*dy[i])
			}
			sum, least = sum+p, min(least, p)
		}
	}
	add(in.q, in.z, d.q, d.z)
	add(in.s, in.price, d.s, d.price)
	return sum, least
}
