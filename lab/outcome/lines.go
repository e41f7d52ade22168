package outcome

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lightloom/lab/console"
)

// record is a line of a file of results: JSON by its tags, CSV by its fields.
type record interface{ fields() []string }

// writeLines writes a file of lines: CSV with a head if its name ends in .csv, else a JSON object a
// line. On an error it removes the partial file.
func writeLines[L record](name, what string, head []string,
	each func(emit func(L) error) error) (err error) {
	fail := func(err error) error { return fmt.Errorf("write %s file: %w", what, err) }
	f, err := os.Create(name)
	if err != nil {
		return fail(err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = fail(e)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	w := bufio.NewWriter(f)
	write := jsonLines[L]
	if strings.EqualFold(filepath.Ext(name), ".csv") {
		write = csvLines[L]
	}
	if err := write(w, head, each); err != nil {
		return fail(err)
	}
	if err := w.Flush(); err != nil {
		return fail(err)
	}
	return nil
}

func csvLines[L record](w io.Writer, head []string, each func(func(L) error) error) error {
	c := csv.NewWriter(w)
	if err := c.Write(head); err != nil {
		return err
	}
	err := each(func(l L) error { return c.Write(console.Cells(l.fields())) })
	c.Flush()
	return errors.Join(err, c.Error())
}

func jsonLines[L record](w io.Writer, _ []string, each func(func(L) error) error) error {
	e := json.NewEncoder(w)
	return each(func(l L) error { return e.Encode(l) })
}

// decimal writes a number with as many digits as it has.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// optional is decimal, or the empty string for nil.
func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return decimal(*v)
}

// inSeconds are the seconds of an instant.
func inSeconds(d time.Duration) float64 { return float64(d) / 1e9 }

// known converts an instant to seconds; nil if it is unknown.
func known(d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	v := inSeconds(d)
	return &v
}
