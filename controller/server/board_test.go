package server

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"lightloom/southbound/meter"
)

// noting is a registerer that notes the names of metrics, whether they have a value or not.
type noting struct{ names map[string]bool }

func (n noting) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc)
	go func() {
		c.Describe(descs)
		close(descs)
	}()
	for d := range descs {
		name := regexp.MustCompile(`fqName: "([a-z_]+)"`).FindStringSubmatch(d.String())
		n.names[name[1]] = true
	}
	return nil
}

func (n noting) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		_ = n.Register(c)
	}
}

func (n noting) Unregister(prometheus.Collector) bool { return false }

// TestBoard: the board and the rules name metrics that a replica serves, and together all of them. Each alert has its
// line in the runbook, and the runbook none too many.
func TestBoard(t *testing.T) {
	served := noting{map[string]bool{}}
	if _, err := meter.New(served); err != nil {
		t.Fatal(err)
	}
	(&exporter{}).count(served)
	served.MustRegister(life(nil, 0)...)
	served.MustRegister(newFigures(nil))

	text := func(name string) string {
		b, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	board, rules := text("packaging/monitoring/dashboard.json"), text("packaging/monitoring/alerts.yml")
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`lightloom_[a-z_]+`).FindAllString(board+rules, -1) {
		named[strings.TrimSuffix(name, "_bucket")] = true
	}
	if !maps.Equal(served.names, named) {
		t.Errorf("served: %v\nnamed: %v", slices.Sorted(maps.Keys(served.names)),
			slices.Sorted(maps.Keys(named)))
	}
	found := func(pattern, in string) (out []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(in, -1) {
			out = append(out, strings.ToLower(m[1]))
		}
		return out
	}
	alerts := found(`(?m)- alert: (\w+)$`, rules)
	if told := found(`(?m)^## (\w+)$`, text("docs/runbooks/alerts.md")); len(alerts) == 0 ||
		!slices.Equal(alerts, told) {
		t.Errorf("alerts %v, runbook %v", alerts, told)
	}
	if linked := found(`runbook: "docs/runbooks/alerts.md#(\w+)"`, rules); !slices.Equal(alerts, linked) {
		t.Errorf("alerts %v link to %v", alerts, linked)
	}
}
