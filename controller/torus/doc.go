// Package torus decides about pods whose cubes of nodes meet on optical switches, one for each place on the faces of
// each dimension: which nodes a slice gets, which circuits make a torus or a twisted torus of them, what a dead cube is
// replaced by, which slices move to make room, and why a slice cannot be had.
//
// A cube has a side of 2 or 4 nodes and is wired inside. Its 6 faces have a fibre a place, and the two fibres of one
// place on opposite faces lead to the same switch: 12 or 48 switches with two ports a cube, from the lower face and
// from the upper one.
//
// All of it is plain data in and plain data out. It sets no circuit itself, and knows no jobs.
package torus
