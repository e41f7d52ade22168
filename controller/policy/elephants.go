package policy

// ElephantFactor is T_e ÷ (δ × OCS rate): how many times what a circuit carries while it is dark makes
// an elephant. The document has 1.125 GB at 10 ms and 100 Gb/s (co-scheduler, section II-A).
const ElephantFactor = 9
