package rollout

import "lightloom/southbound"

// What the mover knows by port, so that a move looks at no others.

// noteCircuit notes where an input leads. An output that is no port of the OCS is ignored.
func (m *Mover) noteCircuit(in, out southbound.Port) {
	if out < 0 || int(out) >= len(m.lit) {
		out = southbound.NoPort
	}
	if was := m.lit[in]; was != southbound.NoPort {
		m.inputsLit[was]--
	}
	if m.lit[in] = out; out != southbound.NoPort {
		m.inputsLit[out]++
		m.into[out] = in
	}
}

// asked notes that the OCS was sent in→out: other circuits of these ports are dark from now on.
func (m *Mover) asked(in, out southbound.Port) {
	if m.lit[in] != out {
		m.noteCircuit(in, southbound.NoPort)
	}
	if k := m.into[out]; k != southbound.NoPort && k != in && m.lit[k] == out {
		m.noteCircuit(k, southbound.NoPort)
	}
	// others whose removal has not been reported
	for k := 0; m.inputsLit[out] > 1 || m.inputsLit[out] == 1 && m.lit[in] != out; k++ {
		if m.lit[k] == out && southbound.Port(k) != in {
			m.noteCircuit(southbound.Port(k), southbound.NoPort)
		}
	}
}

// count counts a move that comes (1) or goes (-1) at its ports.
func (m *Mover) count(o *move, n int32) {
	m.busy[0][o.in] += n
	m.busy[1][o.out] += n
	m.countDrops(o, n)
}

func (m *Mover) countDrops(o *move, n int32) {
	for _, d := range o.drop {
		m.drops[d.In] += n
	}
}
