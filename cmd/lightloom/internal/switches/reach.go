package switches

import (
	"net"
	"strings"
	"time"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
)

// unreached adds to an error of a first call what is probably wrong.
func unreached(err error, cfg gnmi.Config, now time.Time) error {
	if err == nil {
		return nil
	}
	if at, ok := pki.Expired(cfg.TLS, now); ok {
		return hint.Wrap(err, "your certificate has expired on "+at.Format(time.RFC3339)+": have another one issued")
	}
	for _, known := range []struct{ says, mend string }{
		{"tls: bad certificate", "the target does not take your certificate: is it of the target's authority?"},
		{"error reading server preface", "does it speak TLS? write --tls-dir DIR or --devices FILE in place of --plaintext"},
		{"first record does not look like a TLS handshake",
			"it speaks no TLS: write --plaintext, to a loopback address"},
		{"connection refused", "nothing listens at " + cfg.Addr + ": is the target running, and is that its port?"},
		{"certificate signed by unknown authority",
			"the keys are of another authority: take those that the target wrote"},
		{"certificate has expired", "the target's certificate has expired: give it another one"},
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
