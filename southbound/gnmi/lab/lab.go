// Package lab reads a device file: the switches of a lab, how to reach them and which profile each speaks. Secrets are
// named there, never written: an environment variable or a file.
//
// It opens no connection.
package lab

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// Schema is the JSON schema of a device file, for editors.
//
//go:embed devices.schema.json
var Schema []byte

// File is a device file.
type File struct {
	Devices []Device `yaml:"devices"`

	dir string // of the file: relative paths in it start there
}

// Device is one switch of a lab.
type Device struct {
	Name        string      `yaml:"name"`
	Address     string      `yaml:"address"` // host:port
	ID          int32       `yaml:"id"`      // the node in the fabric's topology
	Profile     string      `yaml:"profile"`
	Ports       int32       `yaml:"ports"`
	Racks       int32       `yaml:"racks"` // of the fabric; packet switches only
	TLS         TLS         `yaml:"tls"`
	Credentials Credentials `yaml:"credentials"`
	Flags       Flags       `yaml:"flags"`
}

// TLS says which certificates are used. Without any, the machine's authorities are trusted.
type TLS struct {
	CA         string `yaml:"ca"`          // PEM file of the authority
	Cert       string `yaml:"cert"`        // PEM files of our own certificate and key, both or neither
	Key        string `yaml:"key"`         //
	ServerName string `yaml:"server-name"` // in the device's certificate, where it is not the address
	Plaintext  bool   `yaml:"plaintext"`   // no TLS: on loopback addresses only
}

// Credentials name a user and a password: "env:NAME" or "file:PATH".
type Credentials struct {
	Username string `yaml:"username"`
	Password string `yaml:"password"`
}

// Flags are what differs between vendors and sites; the zero value is each profile's default.
type Flags struct {
	SendRole         bool   `yaml:"send-role"`         // an empty role in the election id
	ControllerBackup bool   `yaml:"controller-backup"` // srl-native, sonic: backups are the controller's to use
	Instance         string `yaml:"instance"`          // srl-native: network-instance
	Interface        string `yaml:"interface"`         // srl-native: format of interface names
	Lanes            int32  `yaml:"lanes"`             // sonic: port p is Ethernet<p·lanes>
	TrustProfile     bool   `yaml:"trust-profile"`     // the device implements no Capabilities: take the profile as it stands here
	ReadConfig       bool   `yaml:"read-config"`       // openconfig-plain: the device keeps no state of rules
}

// maxFile bounds a device file, in bytes.
const maxFile = 1 << 20

// Read reads and checks a device file. Errors name file, line and column.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read device file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read device file: %w", err)
	}
	return Parse(path, data)
}

// Parse is Read of what stands in a file of that name.
func Parse(name string, data []byte) (*File, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes", name, maxFile)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, placed(name, err)
	}
	f := &File{dir: filepath.Dir(name)}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, placed(name, err)
	}
	if len(f.Devices) == 0 {
		return nil, fmt.Errorf("%s: no devices: write them as a list under the key devices", name)
	}
	for i := range f.Devices {
		if where, err := f.Devices[i].check(f.Devices[:i]); err != nil {
			return nil, fmt.Errorf("%s%s: device %q: %s: %w", name, place(tree, i, where), f.Devices[i].Name, where, err)
		}
	}
	return f, nil
}

// placed puts file, line and column before a YAML error's own words.
func placed(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t := y.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("%s:%d:%d: %s", name, t.Position.Line, t.Position.Column, y.GetMessage())
	}
	return fmt.Errorf("%s: %s", name, y.GetMessage())
}

// place is the line and column of a device's key, or of the device where it has no such key.
func place(tree *ast.File, i int, key string) string {
	for _, text := range []string{fmt.Sprintf("$.devices[%d].%s", i, key), fmt.Sprintf("$.devices[%d]", i)} {
		p, err := yaml.PathString(text)
		if err != nil {
			continue
		}
		if n, err := p.FilterFile(tree); err == nil && n.GetToken() != nil {
			at := n.GetToken().Position
			return fmt.Sprintf(":%d:%d", at.Line, at.Column)
		}
	}
	return ""
}

// check says what is wrong with a device, and at which of its keys.
func (d *Device) check(before []Device) (key string, err error) {
	host, port, herr := net.SplitHostPort(d.Address)
	p, perr := gnmi.Named(d.Profile, d.Ports, d.Racks)
	n, nerr := strconv.ParseUint(port, 10, 16)
	switch {
	case d.Name == "":
		return "name", errors.New("it is missing")
	case slices.ContainsFunc(before, func(o Device) bool { return o.Name == d.Name }):
		return "name", errors.New("another device has it")
	case herr != nil || host == "" || nerr != nil || n == 0:
		return "address", fmt.Errorf("%q is no host:port, such as 192.0.2.7:9339", d.Address)
	case slices.ContainsFunc(before, func(o Device) bool { return o.ID == d.ID }):
		return "id", errors.New("another device has it: write the node's id in the topology")
	case d.ID < 0:
		return "id", errors.New("it is below zero")
	case perr != nil:
		return "profile", perr
	case d.Ports < 1 || d.Ports > gnmi.MaxPorts:
		return "ports", fmt.Errorf("write 1 to %d", gnmi.MaxPorts)
	case !optical(p) && (d.Racks < 1 || d.Racks > gnmi.MaxSequenceRacks):
		return "racks", fmt.Errorf("a packet switch needs them: write 1 to %d", gnmi.MaxSequenceRacks)
	case (d.TLS.Cert == "") != (d.TLS.Key == ""):
		return "tls", errors.New("write both cert and key, or neither")
	case d.TLS.Plaintext && d.TLS != (TLS{Plaintext: true}):
		return "tls", errors.New("plaintext takes no certificates")
	case (d.Credentials.Username == "") != (d.Credentials.Password == ""):
		return "credentials", errors.New("write both username and password, or neither")
	case d.TLS.Plaintext && d.Credentials.Username != "":
		return "credentials", errors.New("they are not sent in plaintext")
	}
	for _, c := range [][2]string{{"username", d.Credentials.Username}, {"password", d.Credentials.Password}} {
		if c[1] != "" && !strings.HasPrefix(c[1], "env:") && !strings.HasPrefix(c[1], "file:") {
			return "credentials." + c[0], errors.New("write env:NAME or file:PATH: secrets do not stand in this file")
		}
	}
	return d.checkFlags()
}

func (d *Device) checkFlags() (string, error) {
	f := d.Flags
	packet := d.Profile == "srl-native" || d.Profile == "sonic"
	switch {
	case f.ControllerBackup && !packet:
		return "flags.controller-backup", errors.New("it is of srl-native and sonic")
	case (f.Instance != "" || f.Interface != "") && d.Profile != "srl-native":
		return "flags", errors.New("instance and interface are of srl-native")
	case f.Interface != "" && strings.Count(f.Interface, "%") != 1 || f.Interface != "" && !strings.Contains(f.Interface, "%d"):
		return "flags.interface", errors.New("write one %d where the number stands, such as ethernet-1/%d")
	case f.Lanes != 0 && d.Profile != "sonic":
		return "flags.lanes", errors.New("it is of sonic")
	case f.ReadConfig && d.Profile != "openconfig-plain":
		return "flags.read-config", errors.New("it is of openconfig-plain")
	case f.Lanes < 0 || f.Lanes > 16:
		return "flags.lanes", errors.New("write 1 to 16")
	}
	return "", nil
}

func optical(p gnmi.Profile) bool {
	switch p.(type) {
	case gnmi.OCP, gnmi.SONiCOCS, gnmi.Polatis:
		return true
	}
	return false
}

// profile returns the device's profile with its flags.
func (d *Device) profile() (gnmi.Profile, error) {
	p, err := gnmi.Named(d.Profile, d.Ports, d.Racks)
	switch x := p.(type) {
	case gnmi.SRLinux:
		x.InstanceName, x.Interface, x.ControllerBackup = d.Flags.Instance, d.Flags.Interface, d.Flags.ControllerBackup
		return x, nil
	case gnmi.OpenConfigPlain:
		x.ReadConfig = d.Flags.ReadConfig
		return x, nil
	case gnmi.SONiC:
		x.Lanes, x.ControllerBackup = d.Flags.Lanes, d.Flags.ControllerBackup
		return x, nil
	}
	return p, err
}

// Device returns the device of that name; an unknown one lists the known.
func (f *File) Device(name string) (*Device, error) {
	var known []string
	for i := range f.Devices {
		if f.Devices[i].Name == name {
			return &f.Devices[i], nil
		}
		known = append(known, f.Devices[i].Name)
	}
	return nil, fmt.Errorf("device %q is not in the file: it has %s", name, strings.Join(known, ", "))
}

// Config returns what the driver needs to reach a device. It reads certificates and secrets; getenv is os.Getenv.
func (f *File) Config(d *Device, getenv func(string) string) (gnmi.Config, error) {
	fail := func(err error) (gnmi.Config, error) {
		return gnmi.Config{}, fmt.Errorf("open device %q: %w", d.Name, err)
	}
	p, err := d.profile()
	if err != nil {
		return fail(err)
	}
	c := gnmi.Config{Name: d.Name, Addr: d.Address, Device: southbound.DeviceID(d.ID), Profile: p, SendRole: d.Flags.SendRole,
		Trust: d.Flags.TrustProfile, Plaintext: d.TLS.Plaintext}
	if !d.TLS.Plaintext {
		if c.TLS, err = f.tls(d); err != nil {
			return fail(err)
		}
	}
	if d.Credentials.Username != "" {
		c.Login = &gnmi.Login{}
		if c.Login.User, err = f.secret(d.Credentials.Username, getenv); err != nil {
			return fail(fmt.Errorf("username: %w", err))
		}
		if c.Login.Password, err = f.secret(d.Credentials.Password, getenv); err != nil {
			return fail(fmt.Errorf("password: %w", err))
		}
	}
	return c, nil
}
