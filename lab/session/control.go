package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/capture"
	"lightloom/emulator/fault"
	"lightloom/lab/survey"
	"lightloom/southbound/hint"
)

// The commands exec and status talk to a running `up` over a Unix socket in the abstract namespace, so that no file is
// left behind: one request, one answer, and for exec signals in between. Both sides check that the other is the same
// user.

// request is a client's request, one JSON object. The three descriptors of exec's standard streams come with it.
type request struct {
	Status bool     `json:"status,omitempty"`
	Host   string   `json:"host,omitempty"` // of exec
	Argv   []string `json:"argv,omitempty"`
	Env    []string `json:"env,omitempty"`
	Dir    string   `json:"dir,omitempty"`

	Capture *captureRequest `json:"capture,omitempty"`
	Audit   *auditRequest   `json:"audit,omitempty"`
	Fibre   *fibreRequest   `json:"fibre,omitempty"`
	Fault   *fault.Event    `json:"fault,omitempty"`

	API bool `json:"api,omitempty"` // the connection is for calls of the controller's API from here on
	// where in the namespaces to serve the API, for programs of hosts
	ListenAPI string `json:"listen_api,omitempty"`

	HealAll bool         `json:"heal_all,omitempty"`
	Down    bool         `json:"down,omitempty"`
	Names   bool         `json:"names,omitempty"`
	Page    *pageRequest `json:"page,omitempty"`
	// exec gives its command a terminal: the three descriptors are one
	Terminal bool `json:"terminal,omitempty"`
}

// reply is the answer.
type reply struct {
	Error  string  `json:"error,omitempty"`
	Hint   string  `json:"hint,omitempty"`
	Exit   int     `json:"exit"`
	Status *Status `json:"status,omitempty"`

	Began   bool            `json:"began,omitempty"` // of a capture; its result follows
	Capture *capture.Result `json:"capture,omitempty"`

	Round    int            `json:"round,omitempty"` // of an audit; its result follows
	Circuits int            `json:"circuits,omitempty"`
	Settle   time.Duration  `json:"settle,omitempty"`
	Survey   *survey.Result `json:"survey,omitempty"`

	Struck []Struck `json:"struck,omitempty"`
	Names  *Names   `json:"names,omitempty"`
	Page   string   `json:"page,omitempty"` // its address, good once
}

// refusal is the answer that something cannot be done, with the exit status where it is a mistake of the user.
func refusal(err error) reply {
	r := reply{Error: err.Error(), Hint: hint.Of(err)}
	if hint.IsWrong(err) {
		r.Exit = statusUnknown
	}
	return r
}

// maxRequest bounds a request: an environment and a command line are at most 2 MB on Linux.
const maxRequest = 4 << 20

// controlName is the socket of this user's `up`.
func controlName() string { return "@lightloom-" + strconv.Itoa(os.Getuid()) }

// listenControl opens the socket. It is passed to the process inside, which cannot open names of the outer namespaces.
func listenControl() (*os.File, error) {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: controlName(), Net: "unix"})
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, taken(controlName(), os.Getuid())
	}
	if err != nil {
		return nil, fmt.Errorf("listen on the control socket: %w", err)
	}
	defer ln.Close()
	return ln.File()
}

// taken says who has a name that is in use: the user's own up, or a process of somebody else.
func taken(name string, user int) error {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
	if err == nil {
		err = errors.Join(samePeer(c, user), c.Close())
	}
	if err != nil {
		return hint.Wrap(fmt.Errorf("listen on the control socket: a process that is no lightloom up of yours has its "+
			"name: %w", err), "find it with: ss -xlp | grep "+name+", and have its user end it")
	}
	return hint.New("another lightloom up of yours is running",
		"lightloom down ends it; or use it: lightloom status")
}

// dialControl connects to this user's `up`.
func dialControl() (*net.UnixConn, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: controlName(), Net: "unix"})
	if err != nil {
		return nil, hint.New(fmt.Sprintf("no fabric of yours is up: %v", err),
			"start one in another terminal: lightloom up --fabric "+
				"hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms")
	}
	if err := samePeer(c, os.Getuid()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// samePeer refuses a peer of another user. Ids are those of the caller's user namespace.
func samePeer(c *net.UnixConn, want int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("check peer: %w", err)
	}
	var cred *unix.Ucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		cred, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return fmt.Errorf("check peer: %w", err)
	}
	switch {
	case sockErr != nil:
		return fmt.Errorf("check peer: %w", sockErr)
	case int(cred.Uid) != want:
		return fmt.Errorf("check peer: the other side is user %d, not %d", cred.Uid, want)
	}
	return nil
}

// sendRequest writes a request as a length and JSON, the descriptors with the length.
func sendRequest(c *net.UnixConn, r request, files ...*os.File) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	if len(b) > maxRequest {
		return fmt.Errorf("send request: %d bytes of command and environment, at most %d are taken",
			len(b), maxRequest)
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	if _, _, err := c.WriteMsgUnix([]byte(fmt.Sprintf("%08x", len(b))), rights, nil); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	if _, err := c.Write(b); err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	return nil
}

// maxFiles is how many descriptors a request brings: standard streams, and a cgroup.
const maxFiles = 4

// requestWithin bounds how long a client can take to send its request.
const requestWithin = 5 * time.Second

// receiveRequest reads what sendRequest wrote. The caller closes the files.
func receiveRequest(c *net.UnixConn) (r request, files []*os.File, err error) {
	if err := c.SetReadDeadline(time.Now().Add(requestWithin)); err != nil {
		return r, nil, fmt.Errorf("receive request: %w", err)
	}
	head, oob := make([]byte, 8), make([]byte, unix.CmsgSpace(maxFiles*4))
	n, on, _, _, err := c.ReadMsgUnix(head, oob)
	if err != nil {
		return r, nil, fmt.Errorf("receive request: %w", err)
	}
	files, err = rights(oob[:on])
	if err != nil {
		return r, nil, err
	}
	fail := func(err error) (request, []*os.File, error) {
		closeAll(files)
		return request{}, nil, fmt.Errorf("receive request: %w", err)
	}
	size, err := strconv.ParseUint(string(head[:n]), 16, 32)
	if err != nil || n != 8 || size > maxRequest {
		return fail(fmt.Errorf("length %q", head[:n]))
	}
	b := make([]byte, size)
	for got := 0; got < len(b); {
		k, err := c.Read(b[got:])
		if err != nil {
			return fail(err)
		}
		got += k
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return fail(err)
	}
	return r, files, c.SetReadDeadline(time.Time{})
}

func rights(oob []byte) ([]*os.File, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("receive request: %w", err)
	}
	var files []*os.File
	for i := range msgs {
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
