package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"lightloom/emulator/capture"
	"lightloom/emulator/device"
	"lightloom/lab/console"
	"lightloom/lab/version"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// CaptureOptions are the options of the command capture.
type CaptureOptions struct {
	Port     string // tor0:3 for port 3 of a switch, h0-1 for a host's interface
	File     string // where the pcapng goes; "-" is Stdout
	SnapLen  int
	Count    uint64
	Duration time.Duration

	PacketsOnly bool // no notes of circuits

	Stdout, Stderr io.Writer
}

// captureRequest is a capture on the control socket, with one descriptor to write to.
type captureRequest struct {
	Port     string        `json:"port"`
	SnapLen  int           `json:"snap_len"`
	Count    uint64        `json:"count"`
	Duration time.Duration `json:"duration"`

	PacketsOnly bool `json:"packets_only,omitempty"`
}

// serveCapture captures into a client's file until its bounds are reached, or the client sends a signal
// or disconnects.
func (s *keeper) serveCapture(ctx context.Context, c *net.UnixConn, r captureRequest,
	w *os.File) (*capture.Result,
	error) {
	node, port, err := portNamed(s.Topo.Topology, r.Port)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	src, err := s.openCapture(node, port, r)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	book := capture.NewNotebook()
	if !r.PacketsOnly {
		defer s.annotate(book, node, port)()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = c.Read(make([]byte, 1)) // a signal, or the client's end
	}()
	opt := capture.Options{Port: r.Port, SnapLen: r.SnapLen, Count: r.Count, Duration: r.Duration,
		PacketsOnly: r.PacketsOnly,
		Program:     "lightloom " + version.This(),
		About:       s.Config.Row.Spec.String() + ", policy " + s.Config.Row.Policy,
		Began:       func() { _ = json.NewEncoder(c).Encode(reply{Began: true}) }}
	res, err := capture.Run(ctx, src, book, w, opt)
	return &res, err
}

// openCapture listens at a port of a switch, or in a host's namespace at its interface.
func (s *keeper) openCapture(node pathmap.NodeID, port int32,
	r captureRequest) (src *capture.Source, err error) {
	opt := capture.Options{SnapLen: r.SnapLen, Duration: r.Duration}
	if err := opt.Check(); err != nil {
		return nil, fmt.Errorf("capture at %q: %w", r.Port, err)
	}
	if s.Topo.Topology.Node(node).Role != pathmap.Host {
		index, err := s.Packets.Net.Interface(node, southbound.Port(port))
		if err != nil {
			return nil, err
		}
		return capture.Open(index, r.Port, r.SnapLen, 0)
	}
	for h, n := range s.Topo.HostNode {
		if n != node {
			continue
		}
		err = s.Packets.Net.InHost(southbound.HostID(h), func() error {
			nics, err := net.Interfaces()
			if err != nil {
				return fmt.Errorf("list interfaces: %w", err)
			}
			for _, nic := range nics {
				if nic.Flags&net.FlagLoopback == 0 {
					src, err = capture.Open(nic.Index, r.Port, r.SnapLen, 0)
					return err
				}
			}
			return fmt.Errorf("capture at %q: it has no interface", r.Port)
		})
	}
	return src, err
}

// annotate records changes of circuits, and when the captured port goes dark or is lit again.
func (s *keeper) annotate(book *capture.Notebook, node pathmap.NodeID, port int32) (stop func()) {
	var detach []func()
	tap := func(id southbound.DeviceID, text func(southbound.DeviceEvent) string) {
		sw := s.Packets.Switches[id]
		if sw == nil {
			return
		}
		detach = append(detach, sw.Door.Attach(device.Tap{
			Event: func(e southbound.DeviceEvent) {
				if line := text(e); line != "" {
					book.Add(capture.Note{At: s.Epoch.Add(e.At), Text: line})
				}
			},
			Applied: func(device.Applied) {},
		}, func(time.Duration, *device.Device) {}))
	}
	for i := range s.Topo.OCSes() {
		id := s.Topo.OCSNode + southbound.DeviceID(i)
		ocs := s.Topo.Topology.Node(id).Name
		tap(id, func(e southbound.DeviceEvent) string {
			if e.Kind != southbound.ConnectionStatus {
				return ""
			}
			return fmt.Sprintf("circuit %v %v", circuitName(ocs, e.In, e.Out), e.Status)
		})
	}
	name := s.Topo.Topology.Node(node).Name
	if !s.Topo.IsOCS(node) {
		tap(node, func(e southbound.DeviceEvent) string {
			switch {
			case e.In != southbound.Port(port):
				return ""
			case e.Kind == southbound.PortDown:
				return fmt.Sprintf("port %s dark", portName(name, southbound.Port(port)))
			case e.Kind == southbound.PortUp:
				return fmt.Sprintf("port %s lit", portName(name, southbound.Port(port)))
			}
			return ""
		})
	}
	return func() {
		for _, d := range detach {
			d()
		}
	}
}

// Capture writes the packets of a port of this user's running fabric to a file, until a bound is
// reached or the process is told to end.
func Capture(ctx context.Context, opt CaptureOptions) (err error) {
	check := capture.Options{SnapLen: opt.SnapLen, Duration: opt.Duration}
	if err := check.Check(); err != nil {
		return fmt.Errorf("capture: %w", hint.Wrong(err))
	}
	c, err := dialControl()
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := openCaptureFile(opt)
	if err != nil {
		return err
	}
	defer out.discard()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := sendRequest(c, request{Capture: &captureRequest{opt.Port, opt.SnapLen, opt.Count, opt.Duration,
		opt.PacketsOnly}},
		out.file); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		case <-done:
			return
		}
		_, _ = c.Write([]byte{'\n'})
	}()
	return hearCapture(c, out, opt)
}

// captureFile is the file of a capture. Until the capture has begun it has a name of its own, so that
// one that cannot begin leaves an older file of the wanted name as it was.
type captureFile struct {
	file *os.File
	name string // wanted; empty: the file has its name already
}

func openCaptureFile(opt CaptureOptions) (*captureFile, error) {
	if opt.File == "-" {
		if f, ok := console.Raw(opt.Stdout).(*os.File); ok {
			return &captureFile{file: f}, nil
		}
		return nil, fmt.Errorf("capture: the standard output is no file of the operating system")
	}
	if info, err := os.Stat(opt.File); err == nil && !info.Mode().IsRegular() { // a pipe, say
		f, err := os.OpenFile(opt.File, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		return &captureFile{file: f}, nil
	}
	name, err := filepath.EvalSymlinks(opt.File)
	if err != nil {
		name = opt.File
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.%d.part", name, os.Getpid()),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return &captureFile{file: f, name: name}, nil
}

// begun gives the file its name.
func (o *captureFile) begun() error {
	if o.name == "" {
		return nil
	}
	if err := os.Rename(o.file.Name(), o.name); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	o.name = ""
	return nil
}

// discard removes a file whose capture has not begun.
func (o *captureFile) discard() {
	if o.name != "" {
		_ = os.Remove(o.file.Name())
	}
}

// hearCapture prints the progress and the result of a capture.
func hearCapture(c net.Conn, out *captureFile, opt CaptureOptions) error {
	d := json.NewDecoder(c)
	for {
		var r reply
		switch err := d.Decode(&r); {
		case err != nil:
			return fmt.Errorf("capture: the fabric went down; %q holds what came before: %w", opt.File, err)
		case r.Error != "":
			return refused(r)
		case r.Began:
			if err := out.begun(); err != nil {
				return err
			}
			fmt.Fprintf(opt.Stderr, "capturing at %s; Ctrl-C ends it\n", opt.Port)
		case r.Capture != nil:
			n := r.Capture
			fmt.Fprintf(opt.Stderr, "%s of %d bytes and %s of circuits in %q, in %.1f s; %d packets were "+
				"dropped\n", console.Count(int(n.Packets), "packet"), n.Bytes,
				console.Count(int(n.Notes), "note"), opt.File, n.Ended.Sub(n.Began).Seconds(), n.Dropped)
			if n.Lost > 0 {
				fmt.Fprintf(opt.Stderr, "%d notes came too fast to be written\n", n.Lost)
			}
			return nil
		}
	}
}
