package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/controller/policy"
	"lightloom/emulator/fault"
	"lightloom/lab/experiment"
	"lightloom/lab/session"
)

// completion is what cobra calls to complete a word.
type completion = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// only offers words and no file names.
func only(words []string) ([]string, cobra.ShellCompDirective) {
	return words, cobra.ShellCompDirectiveNoFileComp
}

// names are those of the running fabric; none is running: none.
func names() session.Names {
	n, err := session.AskNames()
	if err != nil {
		return session.Names{}
	}
	return n
}

// completeHosts completes the first words with hosts. What follows may be the words of a command.
func completeHosts(first int) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= first {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return only(names().Hosts)
	}
}

// completeNodes completes the first word with hosts and switches.
func completeNodes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	n := names()
	return only(append(slices.Clone(n.Hosts), n.Parts[fault.Switch.String()]...))
}

func completePorts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return only(nil)
	}
	n := names()
	return only(append(slices.Clone(n.Hosts), n.Ports...))
}

func completeJobs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return only(nil)
	}
	return only(names().Jobs)
}

// completeFault completes a kind and then a name: what has failed, or what can.
func completeFault(heal bool) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			words := fault.Kinds()
			if heal {
				words = append(words, healAll)
			}
			return only(words)
		case 1:
			n := names()
			if heal {
				return only(n.Failed[args[0]])
			}
			return only(n.Parts[args[0]])
		}
		return only(nil)
	}
}

// completePolicies completes the last name of a list of policies: a whole policy or a part; after + the
// parts that answer what those before leave open.
func completePolicies(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before := word[:strings.LastIndexAny(word, ",+")+1]
	joined := strings.Split(before[strings.LastIndex(before, ",")+1:], "+")
	var words []string
	add := func(name, doc string) { words = append(words, before+name+"\t"+doc) }
	if len(joined) == 1 {
		for _, p := range policy.All() {
			add(p.Name, p.Doc)
		}
	}
	answered := map[policy.Question]bool{}
	for _, p := range policy.Parts() {
		if slices.Contains(joined, p.Name) {
			for _, q := range p.Questions {
				answered[q] = true
			}
		}
	}
	for _, p := range policy.Parts() {
		if !slices.ContainsFunc(p.Questions, func(q policy.Question) bool { return answered[q] }) &&
			!slices.Contains(words, before+p.Name+"\t"+p.Doc) {
			add(p.Name, p.Doc)
		}
	}
	return only(words)
}

// completePart completes the parts that answer one question alone.
func completePart(question string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, p := range policy.Parts() {
			if len(p.Questions) == 1 && p.Questions[0].String() == question {
				words = append(words, p.Name+"\t"+p.Doc)
			}
		}
		return only(words)
	}
}

func completeExperiments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, e := range experiment.All(moreExperiments()...) {
		words = append(words, e.Name+"\t"+e.Doc)
	}
	if len(args) > 0 {
		words = nil
	}
	return only(words)
}

// completeCommands completes the words of a command that has -o json.
func completeCommands(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	at, _, err := c.Root().Find(args)
	if err != nil {
		return only(nil)
	}
	var out []string
	for _, s := range at.Commands() {
		if _, ok := cli.ShapeOf(s); s.IsAvailableCommand() && (ok || s.HasAvailableSubCommands()) {
			out = append(out, s.Name()+"\t"+s.Short)
		}
	}
	return only(out)
}
