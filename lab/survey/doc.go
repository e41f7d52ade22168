// Package survey carries out the plan of controller/audit: it sets the circuits of each round at an
// optical switch, waits until its neighbours have had time to hear each other, reads what they heard,
// and restores the earlier circuits.
package survey
