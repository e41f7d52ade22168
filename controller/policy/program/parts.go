package program

import (
	"io"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
)

// Part is a part of a policy that a program answers. Close ends the program.
type Part interface {
	Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
	Wants() controller.KindSet
	io.Closer
}

type part[P interface {
	Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
	Wants() controller.KindSet
}] struct {
	Of P
	*process
}

func (p part[P]) Fill(v *controller.View, ev []controller.Event, to *controller.Plan) {
	p.Of.Fill(v, ev, to)
}
func (p part[P]) Wants() controller.KindSet { return p.Of.Wants() }

// Place returns a part that has a program place jobs. command is split at spaces; no shell reads it.
func Place(command string) Part {
	a := &placing{process: newProcess(command, "place")}
	return part[*place.Asked]{&place.Asked{Ask: a.answer}, a.process}
}

// Route returns a part that has a program choose paths.
func Route(command string) Part {
	a := &routing{process: newProcess(command, "route")}
	return part[*route.Asked]{&route.Asked{Ask: a.answer}, a.process}
}

// Share returns a part that has a program order coflows.
func Share(command string) Part {
	a := &sharing{process: newProcess(command, "share")}
	return part[*share.Asked]{share.NewAsked(a.answer), a.process}
}

// Circuits returns a part that has a program reserve circuits.
func Circuits(command string) Part {
	a := &lighting{process: newProcess(command, "circuits")}
	return part[*circuits.Asked]{&circuits.Asked{Ask: a.answer}, a.process}
}
