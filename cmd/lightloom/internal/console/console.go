package console

import "strconv"

// How a result is printed.
const (
	OutputTable = "table"
	OutputJSON  = "json"
)

// ExitError says with which status the process is to end; a command run in a host hands its own on.
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
