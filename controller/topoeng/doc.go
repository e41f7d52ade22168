// Package topoeng turns demand between pods into circuits on many optical switches, each of which has one port, in
// and out, for every pod: how many circuits each pair gets, which switch has which, so that the fewest standing
// circuits are disturbed or so that each group of switches has its share of each pair, how parallel switches clear a
// demand matrix, with pairs that may be divided or not, and whether to reconfigure at all.
//
// Each answer comes with a certificate: what it reaches, and what no answer beats. All of it is plain data in and
// plain data out. It knows no devices and no jobs.
package topoeng
