package console

import "context"

// Until returns what read returns, or why ctx ended if it ends first. It is for parsers of large files
// in a process that then ends: they do not ask for ctx, and what read does goes on until the process is
// gone. So read leaves nothing behind.
func Until[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()

	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
