package controller

import "lightloom/southbound"

// Admission is whether a coflow with a deadline has been promised to meet it. It is committed, because
// all later decisions must keep the promise.
type Admission uint8

// The admissions.
const (
	Undecided Admission = iota
	Admitted            // it ends in time, unless the fabric loses capacity
	Rejected            // it could not be promised: it is served as if it had no deadline
)

func (v Admission) String() string { return [...]string{"undecided", "admitted", "rejected"}[v] }

// AdmissionDecision gives a started coflow its admission, once and for all.
type AdmissionDecision struct {
	Coflow   southbound.CoflowID
	Admitted bool
}
