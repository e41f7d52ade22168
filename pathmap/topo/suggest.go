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

// Edits is the Levenshtein distance: insertions, deletions and replacements of bytes.
func Edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
