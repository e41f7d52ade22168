package share

// NewNCF returns the part that serves the narrowest coflow first, its width being its number of host
// flows as declared (narrowest-first of Varys, SIGCOMM 2014, section 4.2). It is blind to how many
// bytes they carry.
func NewNCF() *Ordered {
	return &Ordered{order: newByKey(func(d *demand) float64 { return float64(d.b.wide) })}
}
