package topo

// nearest returns the known word that a typed one most likely means: the first with the fewest edits,
// if they are at most two and fewer than the word has letters.
func nearest(word string, known []string) (string, bool) {
	if len(word) > 32 {
		return "", false
	}
	best, at := 3, -1
	for i, k := range known {
		if d := Edits(word, k); d < best && d < len(word) {
			best, at = d, i
		}
	}
	if at < 0 {
		return "", false
	}
	return known[at], true
}

// Edits is the least number of insertions, deletions and replacements of bytes, and exchanges of
// neighbours, that make one word the other.
func Edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
