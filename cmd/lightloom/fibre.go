package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lightloom/lab/session"
)

func newFibre() *cobra.Command {
	opt := session.FibreOptions{Which: "both"}
	c := &cobra.Command{
		Use:   "fibre swap A B | pull A | mend",
		Short: "Swap or unplug fibres of an emulated optical switch",
		Long: "A and B are ports of an optical switch of the running fabric, such as ocs:0, or 0 where it has one.\n" +
			"swap exchanges their fibres, pull unplugs one, mend restores all. The light changes at once; the\n" +
			"controller is not told, so an audit can find it.",
		Example: "  lightloom fibre swap 0 2\n  lightloom fibre pull 1 --which in\n  lightloom audit cabling\n  lightloom " +
			"fibre mend",
	}
	outputFlag(c, &opt.Output, session.FibreDone{})
	c.Flags().StringVar(&opt.Which, "which", opt.Which, "direction: in (into the optical switch), out or both")
	c.RunE = func(c *cobra.Command, args []string) error {
		const hint = "write lightloom fibre swap 0 2, lightloom fibre pull 1, or lightloom fibre mend"
		if len(args) == 0 {
			return usage(hint, "fibre: there is nothing to do")
		}
		want, ok := map[string]int{"swap": 2, "pull": 1, "mend": 0}[args[0]]
		switch {
		case !ok:
			return usage(hint, "fibre: %q is unknown", args[0])
		case len(args)-1 != want:
			return usage(hint, "fibre %s: %d ports are named, %d are due", args[0], len(args)-1, want)
		}
		if err := oneOf(c, "which", opt.Which, "in", "out", "both"); err != nil {
			return err
		}
		opt.Do = args[0]
		for _, a := range args[1:] {
			name, number, named := strings.Cut(a, ":") // ocs:0, as elsewhere, or 0
			if !named {
				name, number = opt.Switch, a
			}
			n, err := strconv.ParseUint(number, 10, 16)
			switch {
			case err != nil:
				return usage(hint, "fibre %s: %q is no port number", args[0], a)
			case opt.Switch != "" && name != opt.Switch:
				return usage(fmt.Sprintf("name two ports of %s", opt.Switch),
					"fibre swap: %s is a port of another switch than %s: fibres change places at one", a, args[1])
			}
			opt.Switch, opt.Ports = name, append(opt.Ports, int(n))
		}
		opt.Stdout = c.OutOrStdout()
		return session.Fibre(c.Context(), opt)
	}
	return c
}
