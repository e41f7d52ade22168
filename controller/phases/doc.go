// Package phases decides in which phases of a training job circuits move. A job repeats an iteration of phases, each
// with computing and with data between racks; circuits that move are dark for a while, in which the job computes, and
// sends over packets and over the circuits that stay.
//
// All of it is plain data in and plain data out. It knows no switches, and no trace: phases are given.
package phases
