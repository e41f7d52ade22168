// Package northbound is how commands reach a controller: by flags, or by contexts, which a file of the user's keeps.
package northbound

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"lightloom/controller/api"
	"lightloom/lab/console"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
	"lightloom/southbound/yamlfile"
)

// Up is the context of the fabric that lightloom up runs. It is always there.
const Up = "up"

// Context is a controller and how it is reached.
type Context struct {
	Name    string   `json:"name" yaml:"-"`
	Current bool     `json:"current" yaml:"-"`
	Servers []string `json:"servers,omitempty" yaml:"servers,omitempty"` // host:port of replicas
	Keys    string   `json:"keys,omitempty" yaml:"keys,omitempty"`       // path of a PEM file
	Socket  string   `json:"socket,omitempty" yaml:"socket,omitempty"`   // of a replica of this machine, without servers
}

// file is what is kept.
type file struct {
	Current  string             `yaml:"current,omitempty"`
	Contexts map[string]Context `yaml:"contexts"`
}

// Path returns where contexts are kept: in what LIGHTLOOM_CONTEXTS names, or below the user's directory for such files.
func Path() (string, error) {
	if at := os.Getenv("LIGHTLOOM_CONTEXTS"); at != "" {
		return at, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", hint.Wrap(fmt.Errorf("find contexts: %w", err), "set LIGHTLOOM_CONTEXTS to a file")
	}
	return filepath.Join(dir, "lightloom", "contexts.yaml"), nil
}

func read(path string) (f file, err error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read contexts: %w", err)
	}
	return parse(path, b)
}

// parse reads a file of contexts.
func parse(path string, b []byte) (f file, err error) {
	in, err := yamlfile.Decode(path, b, &f)
	if err != nil {
		return f, fmt.Errorf("read contexts: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
		c := f.Contexts[name]
		c.Name = name
		if err := c.check(); err != nil {
			return f, fmt.Errorf("read contexts: %w", in.At(yamlfile.Keys{"contexts", name}, err))
		}
		f.Contexts[name] = c
	}
	if _, there := f.Contexts[f.Current]; f.Current != "" && f.Current != Up && !there {
		return f, hint.Wrap(fmt.Errorf("read contexts: %w", in.At(yamlfile.Keys{"current"},
			fmt.Errorf("there is no context %q", f.Current))), "lightloom context use "+Up)
	}
	return f, nil
}

// check returns what is wrong with a context, or nil.
func (c *Context) check() error {
	switch {
	case c.Name == Up:
		return hint.New("context "+Up+": the name is that of the fabric that lightloom up runs",
			"choose another name")
	case c.Name == "":
		return hint.New("a context has no name", "choose one")
	case len(c.Servers) == 0 && c.Socket == "":
		return hint.New(fmt.Sprintf("context %s names no server", c.Name),
			"add --server HOST:PORT, or --socket PATH")
	case len(c.Servers) > 0 && c.Keys == "":
		return hint.New(fmt.Sprintf("no keys for %s: the controller asks for a certificate",
			strings.Join(c.Servers, ", ")),
			"add --keys client.pem")
	}
	for _, s := range c.Servers {
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			return hint.New(fmt.Sprintf("context %s: server %q is no address", c.Name, s), "write HOST:PORT")
		}
	}
	return nil
}

// change reads the file, has it changed, and writes it.
func change(do func(*file) error) error {
	path, err := Path()
	if err != nil {
		return err
	}
	f, err := read(path)
	if err != nil {
		return err
	}
	if f.Contexts == nil {
		f.Contexts = map[string]Context{}
	}
	if err := do(&f); err != nil {
		return err
	}
	b, err := yaml.Marshal(f)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = durable.Replace(path, b, true)
	}
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	return nil
}

// List returns all contexts, by name, after that of lightloom up.
func List() ([]Context, error) {
	path, err := Path()
	if err != nil {
		return nil, err
	}
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	out := []Context{{Name: Up, Current: f.Current == "" || f.Current == Up}}
	for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
		c := f.Contexts[name]
		c.Current = name == f.Current
		out = append(out, c)
	}
	return out, nil
}

// Use makes a context the one of commands that name none.
func Use(name string) error {
	return change(func(f *file) error {
		if _, there := f.Contexts[name]; name != Up && !there {
			return unknown(name)
		}
		f.Current = name
		return nil
	})
}

// Add keeps a context, in place of one of the same name.
func Add(c Context) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	for _, path := range []*string{&c.Keys, &c.Socket} { // commands are run in other directories
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("add context: %w", err)
		}
	}
	return change(func(f *file) error {
		f.Contexts[c.Name] = c
		return nil
	})
}

// Remove forgets a context. If it was the current one, that of lightloom up is.
func Remove(name string) error {
	return change(func(f *file) error {
		if _, there := f.Contexts[name]; !there {
			return unknown(name)
		}
		delete(f.Contexts, name)
		if f.Current == name {
			f.Current = ""
		}
		return nil
	})
}

func unknown(name string) error {
	return hint.Wrong(hint.New(fmt.Sprintf("there is no context %q", name),
		"lightloom context list shows those that are there"))
}

// Flags are how a command says which controller it means.
type Flags struct {
	Context string
	Servers []string
	Keys    string
}

// Add adds them to a command's.
func (f *Flags) Add(to *pflag.FlagSet) {
	to.StringVar(&f.Context, "context", "", "a controller of lightloom context list; default: the current one")
	to.StringArrayVar(&f.Servers, "server", nil,
		"in place of a context: HOST:PORT of a replica's northbound; may come "+
			"several times")
	to.StringVar(&f.Keys, "keys", "", "with --server: PEM file with your certificate and key")
}

// Find returns the context that is meant.
func (f *Flags) Find() (Context, error) {
	if len(f.Servers) > 0 {
		c := Context{Name: "--server", Servers: f.Servers, Keys: f.Keys}
		return c, c.check()
	}
	all, err := List()
	if err != nil {
		return Context{}, err
	}
	for _, c := range all {
		if c.Name == f.Context || f.Context == "" && c.Current {
			return c, nil
		}
	}
	return Context{}, unknown(f.Context)
}

// Dial returns a client of a context that is not that of lightloom up.
func (c *Context) Dial() (*api.Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if len(c.Servers) == 0 {
		return api.DialLocal(c.Socket), nil
	}
	id, err := pki.ReadFile(c.Keys)
	if err != nil {
		return nil, err
	}
	return api.Dial(c.Servers, id.Client("", pki.Controller))
}

// WithStatus gives an error that a controller has answered the exit status of its code. Other errors stay as they are.
func WithStatus(err error) error {
	var e *api.Error
	if !errors.As(err, &e) {
		return err
	}
	return &console.ExitError{Code: e.Code.ExitStatus(), Err: err}
}
