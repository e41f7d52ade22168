package report

import (
	"math"
	"strconv"
	"strings"
)

// sig writes a number with three significant digits, never in exponent form.
func sig(v float64) string {
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case a >= 99.95:
		return thousands(int64(math.Round(v)))
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 0.0005:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// micros writes microseconds in the unit that reads best.
func micros(us float64) string {
	switch {
	case us >= 1e6:
		return sig(us/1e6) + " s"
	case us >= 1e3:
		return sig(us/1e3) + " ms"
	}
	return sig(us) + " µs"
}

// megabytes writes bytes as decimal MB or GB.
func megabytes[B ~int64](b B) string {
	if b >= 10e9 {
		return sig(float64(b)/1e9) + " GB"
	}
	return sig(float64(b)/1e6) + " MB"
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + " %" }

// rate writes bits a second in the unit that reads best.
func rate(b int64) string {
	switch {
	case b >= 1e9:
		return plain(float64(b)/1e9) + " Gb/s"
	case b >= 1e6:
		return plain(float64(b)/1e6) + " Mb/s"
	}
	return thousands(b) + " b/s"
}

// plain writes a number with as many digits as it has, up to six.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
