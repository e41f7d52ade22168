package api

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// maxAhead is how far a caller's clock may be ahead of the replica's.
const maxAhead = time.Minute

// checkAge refuses a request whose id says that it was made too long ago, so that its first answer can
// be forgotten: to take it might be to take it twice. Ids that are no UUIDs of version 7 carry no time,
// and pass.
func (s *Server) checkAge(request string) error {
	made, ok := timeOf(request)
	if !ok || s.cfg.Retention == nil {
		return nil
	}
	known := s.cfg.Retention()
	if known == 0 {
		return nil
	}
	switch age := time.Since(made); {
	case age > known:
		return &Error{Invalid, fmt.Errorf("request id %q is %v old, and requests are known for %v: look whether it was "+
			"taken, and ask again with a new id", request, age.Round(time.Second), known)}
	case age < -maxAhead:
		return &Error{Invalid, fmt.Errorf("request id %q is of a time %v ahead: set the clock", request,
			-age.Round(time.Second))}
	}
	return nil
}

// timeOf returns the time in a UUID of version 7 (RFC 9562): its first 48 bits are milliseconds.
func timeOf(id string) (time.Time, bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[14] != '7' || id[18] != '-' || id[23] != '-' {
		return time.Time{}, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 {
		return time.Time{}, false
	}
	ms := int64(0)
	for _, x := range b[:6] {
		ms = ms<<8 | int64(x)
	}
	return time.UnixMilli(ms), true
}
