package share

// NewSEBF returns Varys: smallest effective bottleneck first, with MADD and back-filling (Chowdhury,
// Zhong and Stoica, "Efficient coflow scheduling with Varys", SIGCOMM 2014, section 5.3). The
// bottleneck is the time that what is left of a coflow takes over its most loaded link with the fabric
// to itself; it is found anew at each decision.
func NewSEBF() *Ordered {
	return &Ordered{order: newByKey(func(d *demand) float64 { return d.gamma }), lean: true,
		fewest: fewRows}
}
