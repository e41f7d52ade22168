package console

import "strconv"

// How a result is printed.
const (
	OutputTable = "table"
	OutputJSON  = "json"
)

// ExitError sets the exit status of the process; exec passes on the status of its command.
type ExitError struct {
	Code int
	Err  error // nil: say nothing, the command has spoken for itself
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return "command ended with status " + strconv.Itoa(e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }
