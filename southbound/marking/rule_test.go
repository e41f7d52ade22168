package marking

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const good = `tags:
- {cgroup: /system.slice/app.service/, to: 10.0.1.1, dscp: 2}
- {cgroup: /sys/fs/cgroup/other, to: 10.0.1.7/24, dscp: 0}
`
	rules, err := Parse("tags.yaml", []byte(good))
	want := []Rule{{"system.slice/app.service", netip.MustParsePrefix("10.0.1.1/32"), 2},
		{"/sys/fs/cgroup/other", netip.MustParsePrefix("10.0.1.0/24"), 0}}
	if err != nil || !reflect.DeepEqual(rules, want) {
		t.Errorf("%v, %v", rules, err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"no cgroup": {"tags:\n- {to: 10.0.1.1, dscp: 1}", "tags.yaml:2:3: cgroup \"\" names none"},
		"root": {"tags:\n- {cgroup: /, to: 10.0.1.1, dscp: 1}",
			"tags.yaml:2:12: cgroup \"/\" names none"},
		"mounted root": {"tags:\n- {cgroup: /sys/fs/cgroup/, to: 10.0.1.1, dscp: 1}", "names none"},
		"no address":   {"tags:\n- {cgroup: a, to: h1-0, dscp: 1}", "tags.yaml:2:19: to \"h1-0\" is no IPv4"},
		"IPv6":         {"tags:\n- {cgroup: a, to: '::1', dscp: 1}", "is no IPv4"},
		"no DSCP":      {"tags:\n- {cgroup: a, to: 10.0.1.1}", "missing: write 0 to 63"},
		"DSCP beyond":  {"tags:\n- {cgroup: a, to: 10.0.1.1, dscp: 64}", "tags.yaml:2:35: dscp is 64"},
		"twice": {"tags:\n- {cgroup: a, to: 10.0.1.1, dscp: 1}\n- {cgroup: a, to: 10.0.1.1/32, dscp: 2}",
			"tags.yaml:3:"},
		"unknown key": {"tags:\n- {group: a}", "tags.yaml:2:4: unknown field"},
		"too many": {"tags:\n" + strings.Repeat("- {cgroup: a, to: 10.0.1.1, dscp: 1}\n",
			maxRules+1), "1025 rules"},
		"no YAML":         {"tags: [", "tags.yaml:1:"},
		"a DSCP in words": {"tags:\n- {cgroup: a, to: 10.0.1.1, dscp: AF11}", "tags.yaml:2:35:"},
	} {
		if _, err := Parse("tags.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// FuzzParse: what is accepted can be put into the kernel's table.
func FuzzParse(f *testing.F) {
	f.Add("tags:\n- {cgroup: a, to: 10.0.1.0/24, dscp: 3}\n")
	f.Add("tags: [{cgroup: /, to: '::', dscp: -1}]")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Parse("f", []byte(text))
		if err != nil {
			return
		}
		for _, r := range rules {
			if k := keyOf(r, 1); r.Cgroup == "" || r.DSCP > maxDSCP || k.Bits < fixedBits ||
				k.Bits > fixedBits+32 {
				t.Errorf("%+v is accepted", r)
			}
		}
	})
}

// TestSpare: an agent does not mark its own packets, and a wrong file leaves the rules of the last reading.
func TestSpare(t *testing.T) {
	for _, tt := range []struct {
		text, cgroup string
		want         bool
	}{
		{"1:cpu:/x\n0::/a/b\n", "a", true}, {"0::/a/b\n", "a/b", true}, {"0::/a/b\n", "a/bc",
			false}, {"0::/\n", "a", false},
		{"0::/a\n", "a/b", false}, {"1:cpu:/a\n", "a", false}, {"", "a", false},
	} {
		if got := in(own(tt.text), tt.cgroup); got != tt.want {
			t.Errorf("%q in %q: %v", tt.text, tt.cgroup, got)
		}
	}
	f := File{Path: filepath.Join(t.TempDir(), "tags.yaml"), Spare: true}
	if err := f.Read(); err == nil || !strings.HasPrefix(err.Error(), "read tags: open ") {
		t.Errorf("no file: %v", err)
	}
	for _, text := range []string{"tags: [{cgroup: a, to: 10.0.1.1, dscp: 1}]",
		"tags: [{cgroup: a, to: 10.0.1.1}]"} {
		if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.Read(); (err == nil) != strings.Contains(text, "dscp") || len(f.rules) != 1 {
			t.Errorf("%s: %v, %d rules", text, err, len(f.rules))
		}
	}
}

func TestCgroupMount(t *testing.T) {
	for line, want := range map[string]string{
		"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate": "/sys/fs/cgroup",
		`30 23 0:26 / /a\040b rw - cgroup2 none rw`:                                      "/a b",
		"30 23 0:26 /below /sys/fs/cgroup rw - cgroup2 cgroup2 rw":                       "",
		"30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu":                      "",
		"": "",
	} {
		if got, ok := cgroupMount(line); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", line, got, ok)
		}
	}
}

// TestMissing: rules of cgroups that are not there, and of destinations that nothing leads to, are told by name.
func TestMissing(t *testing.T) {
	m, err := Open()
	if err != nil {
		t.Skip(err)
	}
	defer m.Close()
	err = m.Set([]Rule{{"no/such", netip.MustParsePrefix("127.0.0.1/32"), 1}})
	if err == nil || !strings.Contains(err.Error(), `find cgroup "no/such"`) || len(m.at) > 0 {
		t.Errorf("%v, %d interfaces", err, len(m.at))
	}
	ctx, cancel := context.WithCancel(t.Context())
	file := File{Path: filepath.Join(t.TempDir(), "tags.yaml"),
		rules: []Rule{{"no/such", netip.MustParsePrefix("127.0.0.1/32"), 1}}}
	var log strings.Builder
	cancel()
	file.Keep(ctx, m, DefaultEvery, slog.New(slog.NewTextHandler(&log, nil)))
	if !strings.Contains(log.String(), "no/such") || !strings.Contains(log.String(), "read tags") {
		t.Errorf("%s", log.String())
	}
}
