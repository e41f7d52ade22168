package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gribi"
	"lightloom/southbound/pki"
	"lightloom/southbound/restconf"
)

// IsURL reports whether an address is of RESTCONF, and not of gNMI.
func IsURL(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// Dial connects to the switch that is node n of a fabric, as Config says; tune, if not nil, completes
// what the driver gets. It is what a controller uses: rules can have backups that the device does not
// know.
func (all Devices) Dial(ctx context.Context, f *topo.Fabric, n pathmap.NodeID, by pki.Credentials,
	getenv func(string) string, tune func(*gnmi.Config)) (gnmi.Line, error) {
	found, err := all.Find(f.Topology.Node(n).Name)
	if err != nil {
		return nil, err
	}
	d := found.within(f, n)
	d.Flags.ControllerBackup = true
	c, err := all.Config(f, n, by, getenv)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, c, tune)
}

// validatedSet is how long a Set of a SONiC switch may take: it holds the whole configuration against
// its models.
const validatedSet = 60 * time.Second

// SetWithin returns how long a Set of the switch of that name may take; 0: as long as that of most.
func (all Devices) SetWithin(name string) time.Duration {
	if d, err := all.Find(name); err == nil &&
		(strings.HasPrefix(d.Profile, "sonic") || d.Profile == AutoProfile) {
		return validatedSet
	}
	return 0
}

// Dial connects to a device, by gNMI or RESTCONF. getenv is os.Getenv.
func (d *Device) Dial(ctx context.Context, getenv func(string) string) (gnmi.Line, error) {
	c, err := d.Config(getenv)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, c, nil)
}

func (d *Device) dial(ctx context.Context, c gnmi.Config, tune func(*gnmi.Config)) (gnmi.Line, error) {
	if tune != nil {
		tune(&c)
	}
	if IsURL(d.Address) {
		return d.restconf(ctx, c)
	}
	s, err := gnmi.Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	if d.GRIBI.Port != 0 {
		return d.byGRIBI(ctx, c, s)
	}
	if _, plain := gnmi.Base(s.Profile()).(gnmi.OpenConfigPlain); plain && d.Flags.ControllerBackup {
		return gnmi.KeepBackups(s), nil
	}
	return s, nil
}

// noTags is what stands in the place of a format where a device has no network instances of tags.
const noTags = "none"

// GRIBIConfig returns how a device's gRIBI server is reached, and what it calls things; c is how its
// gNMI server is reached, and p the profile that this one speaks.
func (d *Device) GRIBIConfig(c gnmi.Config, p gnmi.Profile) gribi.Config {
	host, _, _ := net.SplitHostPort(c.Addr) // it was checked
	c.Addr = net.JoinHostPort(host, strconv.Itoa(int(d.GRIBI.Port)))
	n := gribi.OpenConfig(d.Ports, d.Racks)
	if _, sonic := gnmi.Base(p).(gnmi.SONiC); sonic {
		n = gribi.SONiC(d.Ports, d.Racks, func(port southbound.Port) string { return gnmi.NameOf(p, port) })
	}
	n.Default, n.NoBackups = cmp.Or(d.GRIBI.Default, n.Default), n.NoBackups || d.GRIBI.NoBackup
	n.ControllerBackup = d.Flags.ControllerBackup
	if n.Tagged = cmp.Or(d.GRIBI.Tagged, n.Tagged); n.Tagged == noTags {
		n.Tagged = ""
	}
	n.NextHop = func(port southbound.Port) netip.Addr {
		return netip.MustParseAddr(gnmi.Word(p, gnmi.NextHop(port).String()))
	}
	n.Prefix = func(r southbound.RackID) netip.Prefix {
		return netip.MustParsePrefix(gnmi.Word(p, southbound.RackPrefix(r).String()))
	}
	return gribi.Config{Config: c, Names: n}
}

// byGRIBI joins a session with the device's gRIBI server to one with its gNMI server, which it owns.
func (d *Device) byGRIBI(ctx context.Context, c gnmi.Config, ports *gnmi.Session) (gnmi.Line, error) {
	rules, err := gribi.Dial(ctx, d.GRIBIConfig(c, ports.Profile()))
	if err != nil {
		return nil, errors.Join(err, ports.Close())
	}
	return gribi.Join(rules, ports), nil
}

// restconf makes the driver of a switch that has RESTCONF only, and asks the switch for its pairs once.
func (d *Device) restconf(ctx context.Context, c gnmi.Config) (gnmi.Line, error) {
	r := restconf.Config{Name: d.Name, URL: d.Address, Ports: d.Ports, TLS: c.TLS, Plaintext: d.TLS.Plaintext,
		Timeout: c.Timeout}
	if c.Login != nil {
		r.User, r.Password = c.Login.User, c.Login.Password
	}
	s, err := restconf.New(r)
	if err != nil {
		return nil, err
	}
	if _, err := s.Read(ctx); err != nil {
		return nil, fmt.Errorf("dial device %q at %s: %w", d.Name, d.Address, err)
	}
	return s, nil
}
