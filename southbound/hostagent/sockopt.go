package hostagent

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// controlPriority is the highest in DSCP. It is that of everything that keeps host flows going
// (handshakes, acknowledgements, replies): a SYN lost in a full queue costs a second. Host flows have
// one up to MaxPriority.
const controlPriority = southbound.MaxPriority + 1

func setTOS(fd int, priority uint8, t southbound.Tag) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, int(southbound.TOS(priority, t)))
}

// setPacing bounds a socket's payload bytes a second. The kernel paces by itself from then on: no qdisc
// is needed.
func setPacing(fd int, rate float64) error {
	limit := uint64(math.MaxUint64)
	if rate < math.MaxUint32 { // 34 Gb/s: nothing to pace beyond
		limit = uint64(max(rate, 1))
	}
	return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, limit)
}

// setUnsent bounds what waits in a socket without having been sent, which is what a hold cannot call back.
func setUnsent(fd, n int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, n)
}

// setWake sets how many bytes must have come before a reader is woken.
func setWake(fd, n int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, n)
}

// userTimeout ends a connection whose bytes are not acknowledged, so that it is made anew; it is far
// above any dark time.
const userTimeout = 20 * time.Second

// prepareSender sets what a sender's socket has from the start.
func prepareSender(fd int, congestion string, mss int) error {
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion); err != nil {
		return fmt.Errorf("set congestion control %q: %w (see net.ipv4.tcp_available_congestion_control)", congestion, err)
	}
	for _, o := range [][3]int{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1}, // the last segment does not wait for acknowledgements
		{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds())},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(userTimeout.Seconds())},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 5},
	} {
		if err := unix.SetsockoptInt(fd, o[0], o[1], o[2]); err != nil {
			return fmt.Errorf("set socket option %d of level %d: %w", o[1], o[0], err)
		}
	}
	if mss > 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, mss); err != nil {
			return fmt.Errorf("set segment size %d: %w", mss, err)
		}
	}
	return setTOS(fd, controlPriority, southbound.TagDefault)
}

// unacked is how many bytes written to a socket have not been acknowledged.
func unacked(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.SIOCOUTQ) }

// inFlight is how many bytes written to a socket have been sent and not been acknowledged.
func inFlight(fd int) (int, error) {
	all, err := unacked(fd)
	if err != nil {
		return 0, err
	}
	unsent, err := unix.IoctlGetInt(fd, unix.SIOCOUTQNSD)
	return all - unsent, err
}

func countsOf(fd int) Carried {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return Carried{}
	}
	return Carried{int64(info.Total_retrans), int64(info.Reord_seen), int64(info.Delivered_ce),
		int64(info.Segs_in)}
}

// abort makes the next close reset the connection: no half-closed state stays behind to hold a port for
// a minute.
func abort(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}
