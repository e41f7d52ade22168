package socket

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"lightloom/southbound/hint"
)

// HostPort reads HOST or HOST:PORT; an IPv6 address with a port stands in brackets, and alone it can.
// port is that of an address without one. What can be read as an address alone and as one with a port
// is refused.
func HostPort(at string, port uint16) (host string, number uint16, err error) {
	if in, ok := strings.CutPrefix(at, "["); ok && strings.HasSuffix(in, "]") {
		in = strings.TrimSuffix(in, "]")
		if a, err := netip.ParseAddr(in); err != nil || a.Is4() {
			return "", 0, hint.New(fmt.Sprintf("%q is no IPv6 address in brackets", at),
				"write such as [2001:db8::1]")
		}
		return in, port, nil
	}
	if strings.Count(at, ":") > 1 && !strings.HasPrefix(at, "[") {
		return bare6(at, port)
	}
	host, text, err := net.SplitHostPort(at)
	if err != nil {
		host, text = at, strconv.Itoa(int(port))
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if host == "" || err != nil || strings.ContainsAny(host, "[]") {
		return "", 0, hint.New(fmt.Sprintf("%q is no HOST and no HOST:PORT", at), "write such as 192.0.2.11, "+
			"[2001:db8::1] or host.example:7400")
	}
	if strings.Trim(host, "0123456789.") == "" { // no name is of digits alone
		if _, err := netip.ParseAddr(host); err != nil {
			return "", 0, hint.New(fmt.Sprintf("%q is no IPv4 address", host), "write four numbers from 0 to 255, such as "+
				"192.0.2.11")
		}
	}
	return host, uint16(n), nil
}

// bare6 reads an IPv6 address without brackets.
func bare6(at string, port uint16) (string, uint16, error) {
	_, err := netip.ParseAddr(at)
	colon := strings.LastIndex(at, ":")
	first, last := at[:colon], at[colon+1:]
	_, ferr := netip.ParseAddr(first)
	_, nerr := strconv.ParseUint(last, 10, 16)
	switch both := ferr == nil && nerr == nil; {
	case err == nil && both:
		return "", 0, hint.New(fmt.Sprintf("%q is an IPv6 address, or one with a port", at),
			fmt.Sprintf("write [%s], or [%s]:%s", at, first, last))
	case err == nil:
		return at, port, nil
	case both:
		return "", 0, hint.New(fmt.Sprintf("%q has an IPv6 address without brackets", at),
			fmt.Sprintf("write [%s]:%s", first, last))
	}
	return "", 0, hint.New(fmt.Sprintf("%q is no HOST and no HOST:PORT", at),
		"write such as [2001:db8::1]:7400")
}
