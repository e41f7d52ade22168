package switches

import (
	"net"
	"strings"

	"lightloom/southbound/hint"
)

// unreached adds to an error of a first call what is probably wrong.
func unreached(err error, addr string) error {
	if err == nil {
		return nil
	}
	for _, known := range []struct{ says, mend string }{
		{"error reading server preface", "does it speak TLS? write --tls-dir DIR or --devices FILE in place of --plaintext"},
		{"first record does not look like a TLS handshake",
			"it speaks no TLS: write --plaintext, to a loopback address"},
		{"connection refused", "nothing listens at " + addr + ": is the target running, and is that its port?"},
		{"certificate signed by unknown authority",
			"the keys are of another authority: take those that the target wrote"},
	} {
		if strings.Contains(err.Error(), known.says) {
			return hint.Wrap(err, known.mend)
		}
	}
	return err
}

// onLoopback reports whether an address to listen at is on loopback only.
func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true // what is wrong with it is said when it is opened
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
