package share

// NewFIFO returns the part that serves coflows in the order in which their jobs arrived (the baseline
// of Varys, SIGCOMM 2014, section 7, and of Orchestra, SIGCOMM 2011). A large coflow keeps all behind
// it waiting where they meet.
func NewFIFO() *Ordered {
	return &Ordered{order: newByKey(func(d *demand) float64 { return float64(d.c.Arrival) })}
}
