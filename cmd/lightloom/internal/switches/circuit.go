package switches

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/lab/console"
	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
)

// circuitFlags are the flags of the commands that take a device and a file of circuits.
type circuitFlags struct {
	r       reach
	s       speaker
	book    string
	group   string
	file    string
	caps    circuit.Caps
	steer   string
	drain   time.Duration
	yes     bool
	opt     circuit.Options
	holder  string
	inputs  string
	outputs string
	life    time.Duration
	release bool
	output  string
}

// shownCircuit is a circuit as JSON.
type shownCircuit struct {
	In     southbound.Port `json:"in"`
	Out    southbound.Port `json:"out"`
	Status string          `json:"status,omitempty"` // as the device reports it
}

func shownCircuits(all []southbound.CrossConnect) []shownCircuit {
	out := []shownCircuit{}
	for _, x := range all {
		out = append(out, shownCircuit{In: x.In, Out: x.Out})
	}
	return out
}

// shownDiff is what diff and plan write as JSON.
type shownDiff struct {
	Before []shownCircuit `json:"before"` // of the lease
	After  []shownCircuit `json:"after"`
	Others []shownCircuit `json:"others"` // which stay
	Steps  []shownStep    `json:"steps"`
}

type shownStep struct {
	Drain   []shownCircuit    `json:"drain"`
	Remove  []southbound.Port `json:"remove"` // inputs whose circuit ends
	Connect []shownCircuit    `json:"connect"`
	Verify  []shownCircuit    `json:"verify"`
}

func diffOf(p *circuit.Plan) shownDiff {
	out := shownDiff{shownCircuits(p.Before), shownCircuits(p.After), shownCircuits(p.Others), []shownStep{}}
	for _, s := range p.Steps {
		step := shownStep{Drain: shownCircuits(s.Drain), Remove: []southbound.Port{}, Connect: []shownCircuit{},
			Verify: shownCircuits(s.Verify)}
		for _, x := range s.Change.Connect {
			if x.Off {
				step.Remove = append(step.Remove, x.In)
			} else {
				step.Connect = append(step.Connect, shownCircuit{In: x.In, Out: x.Out})
			}
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

func (f *circuitFlags) device(c *cobra.Command) {
	f.r.flags(c)
	f.s.flags(c)
}

func (f *circuitFlags) wish(c *cobra.Command) {
	f.device(c)
	c.Flags().StringVar(&f.book, "leases", "leases.json", "file of leases")
	c.Flags().StringVar(&f.group, "group", "", "group that holds the lease")
	c.Flags().StringVar(&f.file, "circuits", "", "file with all circuits that the group wants, one per line: "+
		"in=0 out=3")
	c.Flags().BoolVar(&f.caps.CreateFirst, "create-first", false, "the device creates new circuits before it "+
		"removes old ones")
	c.Flags().BoolVar(&f.caps.Single, "single", false, "the device accepts one circuit per request")
}

// NewCircuit returns the command circuit.
func NewCircuit() *cobra.Command {
	c := &cobra.Command{Use: "circuit", Short: "Show, lease and move circuits of a shared optical switch",
		Args: cli.UnknownCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(newCircuitImport(), newCircuitLease(), newCircuitDiff(), newCircuitPlan(), newCircuitApply())
	return c
}

func newCircuitImport() *cobra.Command {
	var f circuitFlags
	c := &cobra.Command{Use: "import ADDR", Short: "Print the circuits of a switch in the format of --circuits " +
		"(read-only)", Example: "  lightloom circuit import ocs --devices lab.yaml > now.circuits"}
	f.device(c)
	cli.OutputFlag(c, &f.output, []shownCircuit{})
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.with(c, args, func(d southbound.Device, _ string) error {
			seen, err := d.Read(c.Context())
			if err != nil {
				return err
			}
			if f.output == console.OutputJSON {
				all := []shownCircuit{}
				for _, x := range seen.Connections {
					all = append(all, shownCircuit{In: x.In, Out: x.Out, Status: x.Status.String()})
				}
				return console.WriteJSON(c.OutOrStdout(), all)
			}
			for _, x := range seen.Connections {
				if _, err := fmt.Fprintf(c.OutOrStdout(), "in=%d out=%d # %v\n", x.In, x.Out, x.Status); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return c
}

// with opens the device that args name for f.
func (f *circuitFlags) with(c *cobra.Command, args []string,
	do func(d southbound.Device, name string) error) (err error) {
	d, cfg, err := f.s.dial(c, &f.r, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return do(d, cfg.Name)
}

func newCircuitLease() *cobra.Command {
	var f circuitFlags
	c := &cobra.Command{
		Use:   "lease [DEVICE]",
		Short: "List leases; take, renew or release the ports of a group",
		Long: "Circuits may be moved only under a lease. A lease names the inputs and outputs of one device that a\n" +
			"group may use, until when, and who holds it. Circuits with a port outside the lease are never\n" +
			"changed. Without DEVICE the command lists the leases.",
		Example: "  lightloom circuit lease ocs --group pod1 --inputs 0-7 --outputs 0-7\n" +
			"  lightloom circuit lease ocs --group pod1 --release",
	}
	cli.OutputFlag(c, &f.output, circuit.LeaseTable{})
	c.Flags().StringVar(&f.book, "leases", "leases.json", "file of leases")
	c.Flags().StringVar(&f.group, "group", "", "name of the group")
	c.Flags().StringVar(&f.inputs, "inputs", "", "input ports of the group, such as 0-7,9")
	c.Flags().StringVar(&f.outputs, "outputs", "", "output ports of the group, such as 0-7,9")
	c.Flags().StringVar(&f.holder, "holder", userName(), "person who holds the lease")
	c.Flags().DurationVar(&f.life, "for", 24*time.Hour, "how long the lease lasts")
	c.Flags().BoolVar(&f.release, "release", false, "release the lease")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return f.list(c.OutOrStdout())
		case len(args) > 1 || f.group == "" || f.holder == "":
			return cli.Usage("lightloom circuit lease ocs --group pod1 --inputs 0-7 --outputs 0-7 --holder me",
				"lease: name one device, a group and a holder")
		case f.release:
			return circuit.ChangeLeases(f.book, userName(), time.Now(), func(b *circuit.LeaseTable) error {
				return b.Release(args[0], f.group, f.holder)
			})
		}
		l := circuit.Lease{Device: args[0], Group: f.group, Holder: f.holder,
			Until: time.Now().Add(f.life).UTC().
				Truncate(time.Second)}
		var err error
		if l.Inputs, err = circuit.ParsePorts(f.inputs); err == nil {
			l.Outputs, err = circuit.ParsePorts(f.outputs)
		}
		if err != nil {
			return cli.Usage("write --inputs 0-7 --outputs 0-7", "lease: %w", err)
		}
		return circuit.ChangeLeases(f.book, userName(), time.Now(),
			func(b *circuit.LeaseTable) error { return b.Take(l, time.Now()) })
	}
	return c
}

// userName is this user's; empty where nothing knows it.
func userName() string {
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

func (f *circuitFlags) list(w io.Writer) error {
	b, err := circuit.ReadLeases(f.book)
	if err != nil {
		return err
	}
	if f.output == console.OutputJSON {
		return console.WriteJSON(w, b)
	}
	for _, l := range b.Leases {
		if _, err := fmt.Fprintf(w, "%s %s: inputs %v, outputs %v, held by %s until %s\n", l.Device,
			l.Group, l.Inputs,
			l.Outputs, l.Holder, l.Until.Format(time.RFC3339)); err != nil {
			return err
		}
	}
	return nil
}

// plan reads the lease, the requested circuits and the device, and plans. It writes nothing.
func (f *circuitFlags) plan(ctx context.Context, d southbound.Device, name string) (*circuit.Plan, error) {
	if f.group == "" || f.file == "" {
		return nil, cli.Usage("write --group pod1 --circuits FILE",
			"circuit: a group and a file of its circuits are needed")
	}
	wanted, err := readCircuits(f.file)
	if err != nil {
		return nil, err
	}
	b, err := circuit.ReadLeases(f.book)
	if err != nil {
		return nil, err
	}
	l, err := b.Find(name, f.group, time.Now())
	if errors.Is(err, circuit.ErrNoLease) {
		return nil, cli.Usage("lightloom circuit lease "+name+" --group "+f.group+" --inputs … --outputs …", "%w", err)
	}
	if err != nil {
		return nil, err
	}
	seen, err := d.Read(ctx)
	if err != nil {
		return nil, err
	}
	return circuit.Make(seen.Connections, wanted, *l, f.caps)
}

func newCircuitDiff() *cobra.Command {
	return newPlanned("diff", "Compare the circuits of a lease with those of a file", printDiff)
}

func newCircuitPlan() *cobra.Command {
	return newPlanned("plan", "Print the checked steps that lead to the circuits of a file", printPlan)
}

// newPlanned is a command that makes a plan and prints it.
func newPlanned(name, short string, print func(io.Writer, *circuit.Plan) error) *cobra.Command {
	var f circuitFlags
	c := &cobra.Command{Use: name + " ADDR", Short: short + " (read-only)",
		Example: "  lightloom circuit " + name + " ocs --devices lab.yaml --group pod1 --circuits pod1.circuits"}
	f.wish(c)
	cli.OutputFlag(c, &f.output, shownDiff{})
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.with(c, args, func(d southbound.Device, name string) error {
			p, err := f.plan(c.Context(), d, name)
			switch {
			case err != nil:
				return err
			case f.output == console.OutputJSON:
				return console.WriteJSON(c.OutOrStdout(), diffOf(p))
			}
			return print(c.OutOrStdout(), p)
		})
	}
	return c
}

func printDiff(w io.Writer, p *circuit.Plan) error {
	var lines []string
	for _, x := range p.Before {
		if !slices.Contains(p.After, x) {
			lines = append(lines, fmt.Sprintf("- in=%d out=%d", x.In, x.Out))
		}
	}
	for _, x := range p.After {
		sign := "+"
		if slices.Contains(p.Before, x) {
			sign = " "
		}
		lines = append(lines, fmt.Sprintf("%s in=%d out=%d", sign, x.In, x.Out))
	}
	lines = append(lines, "# circuits of others that stay: "+strconv.Itoa(len(p.Others)))
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func printPlan(w io.Writer, p *circuit.Plan) error {
	if len(p.Steps) == 0 {
		_, err := fmt.Fprintf(w, "nothing to do: %s up, %d of others stay\n",
			console.Count(len(p.After), "circuit"), len(p.Others))
		return err
	}
	for i, s := range p.Steps {
		if _, err := fmt.Fprintf(w, "step %d: drain %s; one Set: %s; verify and steer %s\n", i+1,
			circuit.PairsText(s.Drain),
			circuit.PairsText(s.Change.Connect), circuit.PairsText(s.Verify)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "checked: every state in between is free of ports used twice, and "+
		"those of others stay (%d)\n",
		len(p.Others))
	return err
}

func newCircuitApply() *cobra.Command {
	var f circuitFlags
	c := &cobra.Command{
		Use:   "apply ADDR --yes",
		Short: "Move circuits to those of a file: drain, move, verify, steer; roll back if a step fails",
		Long: "Without --yes the command only prints its plan. Circuits that are right already are left alone, so\n" +
			"a second apply changes nothing. With --steer FILE, which has a line \"input=0 device=tor0 port=5\n" +
			"rack=0\" for each input, the packet switches of --devices send packets to a circuit only while it is\n" +
			"in service.",
		Example: "  lightloom circuit apply ocs --devices lab.yaml --group pod1 --circuits pod1.circuits --yes",
	}
	f.wish(c)
	c.Flags().BoolVar(&f.yes, "yes", false, "carry out the plan")
	c.Flags().StringVar(&f.steer, "steer", "",
		"file that names the packet switch and port behind each input; "+
			"the switches are those of --devices")
	c.Flags().DurationVar(&f.drain, "drain", 10*time.Millisecond, "with --steer: time from removing the last "+
		"rule until the circuit is empty")
	c.Flags().DurationVar(&f.opt.Settle, "settle", 10*time.Second, "time limit for a step until the device "+
		"confirms it")
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.with(c, args, func(d southbound.Device, name string) error {
			p, err := f.plan(c.Context(), d, name)
			if err != nil {
				return err
			}
			if err := printPlan(c.OutOrStdout(), p); err != nil || len(p.Steps) == 0 {
				return err
			}
			if !f.yes {
				_, err := fmt.Fprintln(c.OutOrStdout(), "nothing was sent: add --yes to do it")
				return err
			}
			st, closeAll, err := f.steering(c)
			if err != nil {
				return err
			}
			f.opt.Tell = func(step int, what string) {
				_, _ = fmt.Fprintf(c.OutOrStdout(), "step %d: %s\n", step, what)
			}
			return errors.Join(circuit.Apply(c.Context(), d, st, p, f.caps, f.opt), closeAll())
		})
	}
	return c
}

// maxCircuits bounds a file of circuits.
const maxCircuits = 1 << 14

func readCircuits(name string) ([]southbound.CrossConnect, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read circuits: %w", err)
	}
	out, err := parseCircuits(name, file)
	return out, errors.Join(err, file.Close())
}

// parseCircuits reads lines "in=0 out=3"; what follows # is a comment. Each port occurs once.
func parseCircuits(name string, r io.Reader) ([]southbound.CrossConnect, error) {
	var out []southbound.CrossConnect
	ins, outs := map[southbound.Port]int{}, map[southbound.Port]int{}
	err := eachLine(name, r, "in=0 out=3", []string{"in", "out"}, func(n int, v map[string]string) error {
		i, ierr := strconv.ParseUint(v["in"], 10, 16)
		o, oerr := strconv.ParseUint(v["out"], 10, 16)
		x := southbound.CrossConnect{In: southbound.Port(i), Out: southbound.Port(o)}
		switch {
		case ierr != nil || oerr != nil:
			return errors.New("ports are numbers")
		case ins[x.In] > 0 || outs[x.Out] > 0:
			return fmt.Errorf("a port of it stands in line %d, too", cmp.Or(ins[x.In], outs[x.Out]))
		case len(out) >= maxCircuits:
			return fmt.Errorf("more than %d circuits", maxCircuits)
		}
		ins[x.In], outs[x.Out] = n, n
		out = append(out, x)
		return nil
	})
	return out, err
}

// eachLine calls f with the values of each line that is not empty; every line has exactly these keys.
func eachLine(name string, r io.Reader, example string, want []string,
	f func(line int, v map[string]string) error) error {
	s := bufio.NewScanner(plaintext.NewReader(r))
	n := 1
	for ; s.Scan(); n++ {
		text, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		v := map[string]string{}
		for _, w := range words {
			key, value, _ := strings.Cut(w, "=")
			v[key] = value
		}
		bad := len(words) != len(want) || slices.ContainsFunc(want, func(k string) bool { return v[k] == "" })
		err := error(nil)
		if !bad {
			err = f(n, v)
		}
		if bad || err != nil {
			if bad {
				err = fmt.Errorf("a line has %s", strings.Join(want, ", "))
			}
			return cli.Usage("write a line such as: "+example, "%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n, plaintext.LineError(err))
	}
	return nil
}
