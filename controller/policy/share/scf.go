package share

// NewSCF returns the part that serves the shortest coflow first, its length being that of its largest
// host flow as declared (shortest-first of Varys, SIGCOMM 2014, section 4.2). It is blind to how many
// host flows meet at one port.
func NewSCF() *Ordered {
	return &Ordered{order: newByKey(func(d *demand) float64 { return float64(d.b.largest) })}
}
