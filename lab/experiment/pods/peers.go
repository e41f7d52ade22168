package pods

import "lightloom/lab/experiment"

// T1b returns the rows of trace T1b alone, whose figures come from RFold's own program.
func T1b() ([]experiment.Row, error) {
	out := &experiment.Result{}
	err := t1b(out)
	return out.Rows, err
}
