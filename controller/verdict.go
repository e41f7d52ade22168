package controller

import "lightloom/southbound"

// Verdict says whether a coflow with a deadline has been promised to meet it. A promise is kept by all that is decided
// later, so that it is committed.
type Verdict uint8

// The verdicts.
const (
	Unjudged Verdict = iota
	Admitted         // it ends in time, unless the fabric loses capacity
	Rejected         // it could not be promised: it is served as if it had no deadline
)

func (v Verdict) String() string { return [...]string{"unjudged", "admitted", "rejected"}[v] }

// Judgement gives a started coflow its verdict, once and for all.
type Judgement struct {
	Coflow   southbound.CoflowID
	Admitted bool
}
