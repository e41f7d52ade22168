// Package credentials carries out the commands on certificates and on what is granted to their holders.
//
// It decides nothing: keyrings are inventory's, and the controller knows what is granted.
package credentials

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/lab/console"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// Northbound is how a command reaches a controller.
type Northbound struct {
	Servers []string // host:port of replicas
	Keys    string   // file with the caller's certificate and key
	Socket  string   // without Servers: of a replica of this machine
}

func (n *Northbound) dial() (*api.Client, error) {
	if len(n.Servers) == 0 {
		return api.DialLocal(n.Socket), nil
	}
	if n.Keys == "" {
		return nil, hint.New("--server without --keys: the controller asks for a certificate", "add --keys client.pem")
	}
	id, err := pki.ReadFile(n.Keys)
	if err != nil {
		return nil, err
	}
	return api.Dial(n.Servers, id.Client("", pki.Controller))
}

// Grant changes what a certificate's name is granted.
func (n *Northbound) Grant(ctx context.Context, g controller.Grant) error {
	client, err := n.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return exit(client.SetAccess(ctx, g))
}

// List prints what is granted.
func (n *Northbound) List(ctx context.Context, out io.Writer, output string) error {
	client, err := n.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := client.Access(ctx)
	if err != nil {
		return exit(err)
	}
	if output == console.OutputJSON {
		return writeJSON(out, all)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\taccess") // Flush returns what any of them met
	for _, g := range all {
		fmt.Fprintf(w, "%s\t%s\n", g.Name, g.Access)
	}
	return w.Flush()
}

// exit gives an error of the northbound the exit status of its code.
func exit(err error) error {
	if err == nil {
		return nil
	}
	return &console.ExitError{Code: api.CodeOf(err).ExitStatus(), Err: err}
}

// ListKeys prints the keys of a directory.
func ListKeys(dir string, out io.Writer, output string) error {
	now := time.Now()
	all, err := inventory.OpenKeyring(dir, now).List()
	if err != nil {
		return err
	}
	if output == console.OutputJSON {
		return writeJSON(out, all)
	}
	return printKeys(out, all, now)
}

// RenewKeys renews keys of a directory and prints the new ones.
func RenewKeys(dir string, names []string, life time.Duration, alone bool, out io.Writer) error {
	now := time.Now()
	done, err := inventory.OpenKeyring(dir, now).Renew(names, life, alone)
	if err != nil {
		return err
	}
	return printKeys(out, done, now)
}

// ReplaceAuthority replaces the authority of a directory of keys, and keeps the old one beside it.
func ReplaceAuthority(dir string, life time.Duration) error {
	now := time.Now()
	return inventory.OpenKeyring(dir, now).Replace("authority-old-"+now.UTC().Format("20060102T150405Z")+".pem", life)
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func printKeys(out io.Writer, all []inventory.Key, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\trole\tuntil\tdays left\tstate\tserial") // Flush returns what any of them met
	for _, k := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%s\t%s\n", k.Name, k.Role, k.Until.Format(time.DateOnly),
			k.Until.Sub(now).Hours()/24, k.State, k.Serial)
	}
	return w.Flush()
}
