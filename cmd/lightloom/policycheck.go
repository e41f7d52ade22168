package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/lab/console"
)

func newPolicy() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "List policies and their parts, or check a policy that is a program of your own",
		Args:  unknownCommand,
	}
	list := newPolicyList()
	c.Aliases = []string{"policies"} // which lists them without another word
	c.Flags().AddFlag(list.Flags().Lookup("output"))
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.CalledAs() == c.Name() && !c.Flags().Changed("output") {
			return c.Help()
		}
		list.SetOut(c.OutOrStdout())
		return list.RunE(list, args)
	}
	views := 3
	check := &cobra.Command{
		Use:   "check place|circuits|route|share COMMAND",
		Short: "Hold a program to the laws of policies",
		Long: "Shows a program random networks, jobs and coflows, and checks its answers: tasks have slots, rows have " +
			"paths, no\n" +
			"port has two circuits at once, and the same words get the same answers, whatever came before. The messages " +
			"are in\n" +
			"docs/ADDING.md.",
		Example: "  lightloom policy check route ./route.py",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("write lightloom policy check route ./route.py",
					"policy check: want a question and a program, "+
						"got %d words", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if views < 1 {
				return usage("write --views 3", "policy check: --views %d is below 1", views)
			}
			return checkPolicy(c.OutOrStdout(), args[0], strings.Join(args[1:], " "), views)
		},
	}
	check.Flags().IntVar(&views, "views", views, "random situations to show")
	check.Flags().SetInterspersed(false)
	c.AddCommand(check, list)
	return c
}

// policyRow is a policy or a part of one, as policy list prints it.
type policyRow struct {
	Name    string   `json:"name"`
	Answers []string `json:"answers"` // the questions of a part; empty: it is a whole policy
	Doc     string   `json:"doc"`
}

func newPolicyList() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "list [place|circuits|route|share]",
		Short: "List policies and the parts that they are made of",
		Long: "Lists policies, and the parts that can be joined by + to make others: each answers where tasks run, which\n" +
			"circuits are made, which way flows take, or how fast they send. With a question, only its parts.",
		Example: "  lightloom policy list\n  lightloom policy list route",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("write lightloom policy list route",
					"policy list: %d questions; take one, or none for all", len(args))
			}
			return nil
		},
	}
	outputFlag(c, &output, []policyRow{})
	c.RunE = func(c *cobra.Command, args []string) error {
		var rows []policyRow
		if len(args) == 1 {
			if !slices.Contains([]string{"place", "circuits", "route", "share"}, args[0]) {
				return usage("write lightloom policy list route",
					"policy list: %q is no question: take place, circuits, route "+
						"or share", args[0])
			}
		} else {
			for _, p := range policy.All() {
				rows = append(rows, policyRow{Name: p.Name, Answers: []string{}, Doc: p.Doc})
			}
		}
		for _, p := range policy.Parts() {
			x := policyRow{Name: p.Name, Doc: p.Doc}
			for _, q := range p.Questions {
				x.Answers = append(x.Answers, q.String())
			}
			if len(args) == 0 || slices.Contains(x.Answers, args[0]) {
				rows = append(rows, x)
			}
		}
		if output == console.OutputJSON {
			return console.WriteJSON(c.OutOrStdout(), rows)
		}
		t := console.NewTable(c.OutOrStdout(), "name", "answers", "what it does")
		for _, x := range rows {
			t.Row(x.Name, strings.Join(x.Answers, " "), x.Doc)
		}
		return t.Print()
	}
	return c
}

func checkPolicy(out io.Writer, question, command string, views int) error {
	over := policy.Overrides{}
	field, ok := map[string]*string{"place": &over.Place, "circuits": &over.Circuits, "route": &over.Route,
		"share": &over.Share}[question]
	if !ok {
		return usage("write lightloom policy check route "+command,
			"policy check: %q is no question: take place, circuits, "+
				"route or share", question)
	}
	*field = "exec:" + command
	if err := tryLaws(views, over); err != nil {
		return fmt.Errorf("policy check: %w", err)
	}
	_, err := fmt.Fprintf(out, "%s answers %s and keeps the laws, in %s\n", command, question,
		console.Count(views, "situation"))
	return err
}

// broken is a law that a program breaks.
type broken struct{ error }

// answering is a policy whose program is to answer: one that does not leaves an empty plan, which
// breaks no law.
type answering struct{ controller.Policy }

func (a answering) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	p := a.Policy.Decide(v, ev)
	if p.Err != nil {
		panic(broken{p.Err})
	}
	return p
}

type lawReporter struct{}

func (lawReporter) Helper() {}

func (lawReporter) Fatalf(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }

// tryLaws runs the suite that all parts pass, and ends the programs that it has started.
func tryLaws(views int, over policy.Overrides) (err error) {
	var all []controller.Policy
	defer func() {
		for _, p := range all {
			_ = policy.Close(p) // its answers count, not how it ends
		}
		if e := recover(); e != nil {
			b, ok := e.(broken)
			if !ok {
				panic(e)
			}
			err = b.error
		}
	}()
	spec, err := policy.Parse("random+ecmp", over)
	if err != nil {
		return err
	}
	policytest.Run(lawReporter{}, views, func() controller.Policy {
		p := spec.New(policy.Options{})
		all = append(all, p)
		return answering{p}
	})
	return nil
}
