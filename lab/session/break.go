package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

// BreakOptions are the options of the commands fail and heal.
type BreakOptions struct {
	Fault fault.Fault
	Heal  bool
	All   bool // heal all that has failed, in place of Fault

	Output string // OutputTable or OutputJSON
	Stdout io.Writer
}

// Struck is what a fault, or its end, did.
type Struck struct {
	fault.Fault
	Failed  bool `json:"failed"`  // now
	Changed bool `json:"changed"` // false: it was so already
}

// serveBreak makes something fail or recover.
func (s *keeper) serveBreak(ctx context.Context, e fault.Event) reply {
	changed, err := s.Faults.Inject(ctx, s, e)
	if err != nil {
		var unknown *fault.UnknownError
		if errors.As(err, &unknown) {
			err = hint.Wrong(err)
		}
		return refusal(err)
	}
	return reply{Struck: []Struck{{e.Fault, !e.Heal, changed}}}
}

// serveHealAll makes all recover that has failed. What cannot does not keep the others from it.
func (s *keeper) serveHealAll(ctx context.Context) reply {
	var r reply
	var errs []error
	for _, f := range s.Faults.Failed() {
		one := s.serveBreak(ctx, fault.Event{Fault: f, Heal: true})
		if one.Error != "" {
			errs = append(errs, wrongAnswer(one))
		}
		r.Struck = append(r.Struck, one.Struck...)
	}
	if err := errors.Join(errs...); err != nil {
		r.Error = err.Error()
	}
	return r
}

// Break makes a part of this user's running fabric fail or recover.
func Break(_ context.Context, opt BreakOptions) error {
	q := request{HealAll: true}
	if !opt.All {
		q = request{Fault: &fault.Event{Fault: opt.Fault, Heal: opt.Heal}}
	}
	r, err := ask(q)
	if err != nil {
		return err
	}
	if opt.Output == console.OutputJSON {
		return console.WriteJSON(opt.Stdout, append([]Struck{}, r.Struck...))
	}
	var errs []error
	for _, s := range r.Struck {
		_, err := fmt.Fprintf(opt.Stdout, "%v %s\n", s.Fault, s.word())
		errs = append(errs, err)
	}
	if len(r.Struck) == 0 {
		_, err := fmt.Fprintln(opt.Stdout, "nothing has failed")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *Struck) word() string {
	switch {
	case s.Failed && s.Changed:
		return "failed"
	case s.Failed:
		return "had failed already"
	case s.Changed:
		return "healed"
	}
	return "had not failed"
}
