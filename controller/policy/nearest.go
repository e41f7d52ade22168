package policy

// nearest returns the known name with the smallest edit distance to name, the first among equals; "" where none is
// nearer than half of the longer one's length, for a wild guess helps nobody.
func nearest(name string, known []string) string {
	best, near := "", 0
	for _, k := range known {
		d := distance(name, k)
		if 2*d <= max(len(name), len(k)) && (best == "" || d < near) {
			best, near = k, d
		}
	}
	return best
}

// maxName bounds the names that are compared: the distance takes time by the product of their lengths.
const maxName = 64

// distance is the least number of bytes to insert, remove or change that makes a into b (Levenshtein).
func distance(a, b string) int {
	a, b = a[:min(len(a), maxName)], b[:min(len(b), maxName)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
