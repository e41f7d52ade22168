package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"lightloom/lab/version"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages of all commands",
		Example: "  lightloom man man1 && man -l man1/lightloom.1",
		Args:    one("directory", "write lightloom man DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}

			commit, _ := version.Commit()
			built := version.Time() // not now: the same program gives the same bytes
			head := doc.GenManHeader{Section: "1", Source: edition(version.This(), commit),
				Manual: "Lightloom", Date: &built}
			root := c.Root()
			root.DisableAutoGenTag = true // likewise
			if err := writePages(args[0], root, head); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "wrote %s/lightloom.1 and one page a command\n", args[0])
			return err
		},
	}
}

// pseudo is a version that the go command makes of a commit: its instant in fourteen digits, and its hash.
var pseudo = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}`)

// edition is what footers call this program: a release by its version, anything else by its commit.
func edition(v, commit string) string {
	if commit != "" && (pseudo.MatchString(v) || strings.HasPrefix(v, "devel")) {
		return "lightloom, commit " + commit[:min(12, len(commit))]
	}
	return "lightloom " + v
}

// writePages writes the page of a command, and those of the commands below it.
func writePages(dir string, c *cobra.Command, head doc.GenManHeader) error {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			if err := writePages(dir, sub, head); err != nil {
				return err
			}
		}
	}

	var page bytes.Buffer
	title := head // GenMan writes the command's name into it
	if err := doc.GenMan(c, &title, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), dated(page.Bytes(), *head.Date), 0o644)
}

// dated gives a page the day in place of the month that cobra writes, and none where the day is not known.
func dated(page []byte, built time.Time) []byte {
	day := ""
	if built.Unix() != 0 {
		day = built.Format(time.DateOnly)
	}
	before, after := fmt.Sprintf(`"1" %q`, built.Format("Jan 2006")), fmt.Sprintf(`"1" %q`, day)
	return bytes.Replace(page, []byte(before), []byte(after), 1)
}
