package share

// NewLCF returns the part that serves the lightest coflow first: the one with the fewest bytes left on
// packets (smallest-first of Varys, SIGCOMM 2014, section 4.2). It is blind to how those are spread
// over ports.
func NewLCF() *Ordered {
	return &Ordered{order: newByKey(func(d *demand) float64 { return d.left })}
}
