package flowsim

import "lightloom/southbound"

// setRates puts checked rates in force.
func (f *fluid) setRates(r *southbound.Rates) {
	flips := f.fair != r.Fair
	f.fair = r.Fair
	f.epoch++
	for _, p := range r.Pace {
		co := &f.coflows[f.byID[p.Coflow]]
		co.want, co.named = p.Until, f.epoch
	}
	for _, p := range r.Pairs {
		f.routes[f.route(pair{p.Src, p.Dst, p.Tag})].rate = float64(p.Rate)
	}
	for _, index := range f.live {
		co := &f.coflows[index]
		switch paced := co.named == f.epoch; {
		case flips || paced != co.paced:
			f.follow(index, paced, co.want)
		case paced && (co.want != co.until || co.late > 0):
			f.pace(index, co.want)
		}
	}
	if len(r.Pairs) > 0 || flips {
		f.disturb()
	}
}
