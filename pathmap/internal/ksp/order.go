package ksp

// The order of ties. Paths of a pair are ordered by length, then by the neighbour that they take at the
// first node where they differ, in that node's order for this pair and depth. A node with n links, in
// port order 0 … n−1, is searched in the order c, c+m, c+2m, … modulo the smallest prime p ≥ n, numbers
// from n on left out: a rotation (c) with a stride (m), both drawn by a hash of (seed, s, t, depth). A
// rotation alone is not even where only some neighbours lead to the target, as in a fat-tree's
// aggregation layer, where up and down links are two blocks: the first link of a block gets all that
// starts in the other block.
//
// s is the end with the smaller id: the paths from t to s are those from s to t, reversed, in the same
// order. So both directions of path i use the same cables, and half of the work and memory is saved.

// golden is 2⁶⁴ divided by the golden ratio: the increment of splitmix64.
const golden = 0x9e3779b97f4a7c15

// mix is the finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
// generators, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Order is the order of ties of one pair.
type Order uint64

// orderOf returns the order of the pair (s, t), s < t.
func orderOf(seed uint64, s, t int32) Order {
	return Order(mix(mix(seed+golden) ^ uint64(uint32(s))<<32 ^ uint64(uint32(t))))
}

// At returns where the search of a node starts and its stride, the node being depth links from s and p
// its prime.
func (o Order) At(depth int, p uint32) (first, stride uint32) {
	h := mix(uint64(o) + uint64(depth+1)*golden)
	first = uint32(h & 0xffffffff * uint64(p) >> 32)
	stride = 1 + uint32(h>>32*uint64(p-1)>>32)
	return first, stride
}

// RankOf returns the place of number i in the order that begins at first, inv being the inverse of its
// stride modulo p.
func RankOf(i int32, first, inv, p uint32) uint32 {
	if p < 1<<15 { // twice its square is within 32 bits, which divide faster
		return (uint32(i) + p - first) * inv % p
	}
	return uint32(uint64(uint32(i)+p-first) * uint64(inv) % uint64(p))
}

// primes returns, for each degree up to most, the smallest prime not below it.
func primes(most int32) []uint32 {
	table := make([]uint32, most+1)
	p := uint32(2)
	for n := range table {
		for p < uint32(n) || !isPrime(p) {
			p++
		}
		table[n] = p
	}
	return table
}

func isPrime(n uint32) bool {
	for d := uint32(2); d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n >= 2
}
