// Package playback shows a run that is over on the page of a running controller: what a report and the
// tables beside it say of each instant. It knows no more than these: neither which hosts had a job's
// tasks, nor what switches held.
package playback
