// Package survey carries out what controller/audit decides: it sets the circuits of each round at an optical switch,
// waits until its neighbours have had time to hear each other, asks them, and puts back what stood before.
package survey
