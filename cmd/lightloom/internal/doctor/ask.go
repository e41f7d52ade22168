package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"lightloom/emulator/netns"
	"lightloom/pathmap"
)

// maxAnswer bounds the output of the process inside, on either stream.
const maxAnswer = 1 << 20

// ask starts this program inside namespaces and returns what it answers.
func ask(ctx context.Context, calibrate bool) (answers, error) {
	args := []string{"doctor"}
	if calibrate {
		args = append(args, "--calibrate")
	}
	var out, errs bounded
	status, err := netns.Enter(ctx, args, netns.EnterOptions{Stdout: &out, Stderr: &errs})
	if err != nil {
		return answers{}, err
	}
	if status != 0 {
		return answers{}, fmt.Errorf("ask from inside namespaces: exit status %d: %s", status,
			bytes.TrimSpace(errs.b))
	}
	var a answers
	if err := json.Unmarshal(out.b, &a); err != nil {
		return a, fmt.Errorf("ask from inside namespaces: read answer: %w", err)
	}
	return a, nil
}

// bounded keeps the first maxAnswer bytes and refuses more.
type bounded struct{ b []byte }

func (w *bounded) Write(p []byte) (int, error) {
	if len(w.b)+len(p) > maxAnswer {
		return 0, io.ErrShortWrite
	}
	w.b = append(w.b, p...)
	return len(p), nil
}

// Calibrate returns the layer-2 rate that one TCP flow gets through ToR, spine and ToR here, in at most
// about 3 s. Other work on the machine lowers it.
func Calibrate(ctx context.Context) (pathmap.BitsPerSecond, error) {
	if netns.Inside() {
		return measure(ctx)
	}
	a, err := ask(ctx, true)
	if err == nil && a.Failed != "" {
		err = errors.New(a.Failed)
	}
	if err != nil {
		return 0, fmt.Errorf("calibrate: %w", err)
	}
	return a.Carried, nil
}
