package switches

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/pathmap/plaintext"
	"lightloom/southbound"
)

// maxRuleFile bounds a file of rules, in lines.
const maxRuleFile = 1 << 17

// readRules reads a file of rules, one a line: "dst=2 tag=7 src=any primary=1 backup=0". Omitted tag
// and src mean "any", omitted backup means none. What follows # is a comment.
func readRules(name string) ([]southbound.Rule, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	rules, err := parseRules(name, f)
	return rules, errors.Join(err, f.Close())
}

func parseRules(name string, r io.Reader) ([]southbound.Rule, error) {
	var out []southbound.Rule
	at := map[southbound.Match]int{}
	s := bufio.NewScanner(plaintext.NewReader(r))
	n := 1
	for ; s.Scan(); n++ {
		text, _, _ := strings.Cut(s.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		rule, err := parseRule(text)
		if err == nil && at[rule.Match] > 0 {
			err = fmt.Errorf("the same match as in line %d", at[rule.Match])
		}
		if err == nil && len(out) >= maxRuleFile {
			err = fmt.Errorf("more than %d rules", maxRuleFile)
		}
		if err != nil {
			return nil, cli.Usage("write a line such as: dst=2 tag=7 primary=1 backup=0",
				"%s:%d: %w", name, n, err)
		}
		at[rule.Match] = n
		out = append(out, rule)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n, plaintext.LineError(err))
	}
	return out, nil
}

func parseRule(text string) (southbound.Rule, error) {
	r := southbound.Rule{Match: southbound.Match{Tag: southbound.AnyTag, Src: southbound.AnyRack},
		Primary: southbound.NoPort, Backup: southbound.NoPort}
	seen := map[string]bool{}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		if seen[key] {
			return r, fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		if (key == "tag" || key == "src") && value == "any" {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return r, fmt.Errorf("%s=%q is no number", key, value)
		}
		switch key {
		case "dst":
			r.Dst = southbound.RackID(n)
		case "src":
			r.Src = southbound.RackID(n)
		case "tag":
			if n >= southbound.Tags {
				return r, fmt.Errorf("tag=%d: tags are 0 to %d, or any", n, southbound.Tags-1)
			}
			r.Tag = southbound.Tag(n)
		case "primary":
			r.Primary = southbound.Port(n)
		case "backup":
			r.Backup = southbound.Port(n)
		default:
			return r, fmt.Errorf("%q is unknown: write dst, src, tag, primary or backup", key)
		}
	}
	if !seen["dst"] || !seen["primary"] {
		return r, errors.New("a rule needs dst and primary")
	}
	return r, nil
}

// ruleText is the inverse of parseRule.
func ruleText(r southbound.Rule) string {
	text := matchText(r.Match) + fmt.Sprintf(" primary=%d", r.Primary)
	if r.Backup != southbound.NoPort {
		text += fmt.Sprintf(" backup=%d", r.Backup)
	}
	return text
}

func matchText(m southbound.Match) string {
	text := fmt.Sprintf("dst=%d tag=", m.Dst)
	if m.Tag == southbound.AnyTag {
		text += "any"
	} else {
		text += strconv.Itoa(int(m.Tag))
	}
	if m.Src == southbound.AnyRack {
		return text + " src=any"
	}
	return text + fmt.Sprintf(" src=%d", m.Src)
}
