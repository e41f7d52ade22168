package topo

import (
	"lightloom/pathmap"
	"lightloom/pathmap/live"
)

// indexedRacks is up to how many racks an index from links to pairs of racks is kept: some 15 MB then.
const indexedRacks = 512

// Indexed maps the fabric's paths, k for each pair of racks, with the index that keeps them in line
// with links that come and go. The index is nil where the fabric is too large for it.
func (f *Fabric) Indexed(k int, seed uint64) (*pathmap.Map, *live.Paths, error) {
	if f.Racks > indexedRacks {
		m, err := f.PathMap(k, seed)
		return m, nil, err
	}
	index, err := f.Follow(k, seed)
	if err != nil {
		return nil, nil, err
	}
	return index.Map(), index, nil
}
