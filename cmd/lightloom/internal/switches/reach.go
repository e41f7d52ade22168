package switches

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"strings"
	"time"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/hint"
)

// unreached adds to an error of a first call what is probably wrong.
func unreached(err error, addr string) error {
	if err == nil {
		return nil
	}
	for _, known := range []struct{ says, mend string }{
		{"tls: bad certificate", "the target does not take your certificate: is it of the target's authority?"},
		{"error reading server preface", "does it speak TLS? write --tls-dir DIR or --devices FILE in place of --plaintext"},
		{"first record does not look like a TLS handshake",
			"it speaks no TLS: write --plaintext, to a loopback address"},
		{"connection refused", "nothing listens at " + addr + ": is the target running, and is that its port?"},
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

// unreachedBy is unreached for a caller with a certificate, which may have expired.
func unreachedBy(err error, cfg gnmi.Config, now time.Time) error {
	if err == nil || cfg.TLS == nil {
		return unreached(err, cfg.Addr)
	}
	own := slices.Clone(cfg.TLS.Certificates)
	if cfg.TLS.GetClientCertificate != nil {
		if c, cerr := cfg.TLS.GetClientCertificate(&tls.CertificateRequestInfo{}); cerr == nil {
			own = append(own, *c)
		}
	}
	for _, c := range own {
		if len(c.Certificate) == 0 {
			continue
		}
		if leaf, perr := x509.ParseCertificate(c.Certificate[0]); perr == nil && now.After(leaf.NotAfter) {
			return hint.Wrap(err, "your certificate has expired on "+leaf.NotAfter.Format(time.RFC3339)+
				": have another one issued")
		}
	}
	return unreached(err, cfg.Addr)
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
