package report

import (
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPictures: every picture of the sample's page is as it was when it was last looked at. After a
// wanted change, look at the page and run the test with -update.
func TestPictures(t *testing.T) {
	r := sample(1)
	r.results[0].Faults, r.results[0].Received = faulty().Faults, faulty().Received
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(string(page), -1) {
		title := regexp.MustCompile(`<title>(.*?)</title>`).FindStringSubmatch(svg + "<title></title>")[1]
		got = append(got, fmt.Sprintf("%d %x %d bytes: %s", i, sha256.Sum256([]byte(svg)), len(svg), title))
	}
	if len(got) < 5 {
		t.Fatalf("only %d pictures", len(got))
	}
	text := strings.Join(got, "\n") + "\n"
	if *update {
		if err := os.WriteFile("testdata/pictures.golden", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/pictures.golden")
	if err != nil || string(want) != text {
		t.Errorf("%v: drawn are\n%s\nwere\n%s", err, text, want)
	}
}
