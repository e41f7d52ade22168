package simulated

import "lightloom/controller/loop"

// AskSlice asks the controller for a slice of a pod, or to delete one.
func (x *Testbed) AskSlice(r loop.SliceRequest) { x.in.Slices = append(x.in.Slices, r) }
