package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/testscript"

	"lightloom/controller/demand"
	"lightloom/controller/replica"
	"lightloom/emulator/netns"
	"lightloom/lab/console"
	"lightloom/lab/experiment"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/session"
	"lightloom/southbound/noise"
)

// TestMain runs a copy of the test binary that is called lightloom as the program and as its children.
func TestMain(m *testing.M) {
	if self, err := os.Executable(); err == nil && filepath.Base(self) == "lightloom" {
		main()
	}
	noise.Waiting(4)
	if err := labtest.CollectRarely(); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"lightloom": main})
}

// TestScripts runs the binary as users do. A script can test [has:COMMAND].
func TestScripts(t *testing.T) {
	t.Parallel()
	root := repository(t)
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOGC", os.Getenv("GOGC"))
			e.Setenv("LIGHTLOOM_CONTROLPLANE", os.Getenv("LIGHTLOOM_CONTROLPLANE"))
			name := filepath.Base(e.WorkDir)
			page := name == "script-tasks" || name == "script-coming-from"
			if !page && name != "script-frames" && name != "script-wireapi" {
				return nil
			}
			if err := ownProgram(e); err != nil || !page {
				return err
			}
			return os.CopyFS(e.WorkDir, os.DirFS(filepath.Join(root, "docs", "examples")))
		},
		Condition: func(cond string) (bool, error) {
			if cond == "packets" {
				return os.Getuid() == 0 && netns.Supported(false) == nil, nil
			}
			if cond == "slurm" {
				return os.Getuid() == 0 && os.Getenv("LIGHTLOOM_SLURM") != "", nil
			}
			if cond == "kube" {
				return os.Getuid() == 0 && os.Getenv("LIGHTLOOM_CONTROLPLANE") != "", nil
			}
			name, ok := strings.CutPrefix(cond, "has:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			for _, c := range newRoot(commandActions(), nil, nil, io.Discard, io.Discard).Commands() {
				if c.Name() == name {
					return true, nil
				}
			}
			return false, nil
		},
	})
}

// ownProgram gives a script the test binary under a path of its own that ends in lightloom, so that it can start itself
// again: what testscript puts on the path is a symbolic link, and what that names runs all tests.
func ownProgram(e *testscript.Env) error {
	bin := filepath.Join(e.WorkDir, "bin")
	e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
	return putProgram(bin)
}

// putProgram makes a directory with the test binary in it, under the name lightloom.
func putProgram(bin string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	// A name of its own is enough where both are on one disk. A file that is written here is busy for as long as another
	// script starts a process in between.
	if os.Link(self, filepath.Join(bin, "lightloom")) == nil {
		return nil
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bin, "lightloom"), program, 0o755)
}

// scripts lists the scripts, the longest first: the last to begin would keep the whole test waiting.
func scripts(t *testing.T) []string {
	t.Helper()
	const dir = "testdata/script"
	all, err := filepath.Glob(dir + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	long := []string{dir + "/tasks.txtar", dir + "/frames.txtar", dir + "/engines.txtar"}
	return slices.Concat(long, slices.DeleteFunc(all, func(name string) bool { return slices.Contains(long, name) }))
}

// TestTasks: the script of a page has every line of the page that a reader types.
func TestTasks(t *testing.T) {
	for name, sections := range map[string]int{"tasks": 19, "coming-from": 4} {
		script := read(t, filepath.Join("testdata", "script", name+".txtar"))
		page := read(t, filepath.Join(repository(t), "docs", name+".md"))
		if n := strings.Count(page, "\n## "); n != sections {
			t.Errorf("%s has %d sections, want %d", name, n, sections)
		}
		for line := range strings.Lines(page) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			command, _, _ = strings.Cut(command, "  #")
			if ok && !strings.Contains(script, strings.TrimSpace(command)) {
				t.Errorf("the script of %s does not run %q", name, command)
			}
		}
	}
}

// TestNamedCommands: the commands in the text and the tables of a page are there, with the flags that they have.
func TestNamedCommands(t *testing.T) {
	page := read(t, filepath.Join(repository(t), "docs", "coming-from.md"))
	named := regexp.MustCompile("`lightloom ([^`]+)`").FindAllStringSubmatch(page, -1)
	if len(named) < 20 {
		t.Errorf("%d commands were found", len(named))
	}
	for _, m := range named {
		c, args, err := newRoot(commandActions(), nil, nil, io.Discard, io.Discard).Find(strings.Fields(m[1]))
		if err != nil || !c.Runnable() && len(args) > 0 {
			t.Errorf("%q: %v", m[0], err)
			continue
		}
		if err := c.ParseFlags(args); err != nil {
			t.Errorf("%q: %v", m[0], err)
		}
	}
}

// recorder is a set of actions that record their arguments.
type recorder struct {
	opt    replay.Options
	exec   session.ExecOptions
	status session.StatusOptions
	asked  string
	err    error
}

func (r *recorder) actions() actions {
	return actions{
		replay: func(_ context.Context, o replay.Options) error { r.asked, r.opt = "replay", o; return r.err },
		up:     func(_ context.Context, o replay.Options) error { r.asked, r.opt = "up", o; return r.err },
		exec:   func(_ context.Context, o session.ExecOptions) error { r.asked, r.exec = "exec", o; return r.err },
		status: func(_ context.Context, o session.StatusOptions) error { r.asked, r.status = "status", o; return r.err },
		doctor: func(_ context.Context, o doctorOptions) error {
			r.asked = fmt.Sprint("doctor ", o.Calibrate)
			return r.err
		},
		experiment: func(_ context.Context, _ *experimentFlags, e experiment.Experiment) error {
			r.asked = "experiment " + e.Name
			return r.err
		},
	}
}

func (r *recorder) run(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	err := newRoot(r.actions(), args, strings.NewReader(""), &out, &errs).ExecuteContext(context.Background())
	status = printError(&errs, err)
	return status, out.String(), errs.String()
}

// defaults returns the options when no flag is set, changed by change.
func defaults(change func(*replay.Options)) replay.Options {
	o := replay.Options{Options: scenario.Options{Scale: 1, Speedup: 1, Seed: 1, Replicas: 3,
		Net: netns.Options{Dataplane: "auto", Congestion: "cubic", MTU: 1500}}}
	change(&o)
	return o
}

func TestOptions(t *testing.T) {
	const fabric = "hybrid:racks=16,hosts=2"
	for _, tc := range []struct {
		args  string
		asked string
		want  replay.Options
	}{
		{"demo", "replay", defaults(func(o *replay.Options) {
			o.Demo, o.Output, o.Scale, o.Speedup = true, "table", 0, 0
		})},
		{"demo --workload training", "replay", defaults(func(o *replay.Options) {
			o.Demo, o.Output, o.Scale, o.Speedup, o.Workload = true, "table", 0, 0, "training"
		})},
		{"demo --scale 5 --speedup 0.5 --coflows 12", "replay", defaults(func(o *replay.Options) {
			o.Demo, o.Output, o.Scale, o.Speedup, o.Coflows = true, "table", 5, 0.5, 12
		})},
		{"demo --seed 7 --report-dir /r -o json --on flowsim", "replay", defaults(func(o *replay.Options) {
			o.Demo, o.Seed, o.ReportDir, o.Output, o.On = true, 7, "/r", "json", "flowsim"
			o.Scale, o.Speedup = 0, 0
		})},
		{"replay --trace t --fabric " + fabric, "replay", defaults(func(o *replay.Options) {
			o.Trace, o.Fabric, o.On, o.Policies, o.Scale, o.Output = "t", fabric, "flowsim", []string{"crosslayer+sunflow"}, 0,
				"table"
			o.Repeat = 1
		})},
		{"replay --trace synthetic --fabric f.yaml --on netns --policy random+ecmp,crosslayer --scale 12.5 --speedup 3 " +
			"--coflows 9 --share maxmin --queue-bytes 65536", "replay",
			defaults(func(o *replay.Options) {
				o.Fabric, o.On, o.Policies, o.Scale, o.Speedup, o.Coflows = "f.yaml", "netns",
					[]string{"random+ecmp", "crosslayer"}, 12.5, 3, 9
				o.Output, o.Parts.Share, o.Net.QueueBytes, o.Repeat = "table", "maxmin", 65536, 1
			})},
		{"up --fabric " + fabric + " --replicas 1", "up", defaults(func(o *replay.Options) {
			o.Fabric, o.On, o.Policies, o.Replicas = fabric, "netns", []string{"crosslayer+sunflow"}, 1
			o.Demand = []demand.Options{{Source: demand.FromCounters, Period: demand.DefaultPeriod}}
		})},
		{"up --fabric " + fabric + " --demand oracle", "up", defaults(func(o *replay.Options) {
			o.Fabric, o.On, o.Policies = fabric, "netns", []string{"crosslayer+sunflow"}
		})},
	} {
		t.Run(tc.args, func(t *testing.T) {
			r := &recorder{}
			args := strings.Fields(tc.args)
			status, _, stderr := r.run(args...)
			if status != 0 || r.asked != tc.asked {
				t.Fatalf("status %d, asked %q: %s", status, r.asked, stderr)
			}
			if d := cmp.Diff(tc.want, r.opt,
				cmpopts.IgnoreFields(replay.Console{}, "Args", "Stdin", "Stdout", "Stderr"),
				cmpopts.IgnoreFields(scenario.Options{}, "Settings")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(args, r.opt.Args); d != "" || r.opt.Stdout == nil || r.opt.Stderr == nil {
				t.Errorf("args or streams are not handed on: %s", d)
			}
		})
	}
}

func TestExecDoctorStatus(t *testing.T) {
	for _, tc := range []struct{ args, asked, host, command string }{
		{"exec h0-0 -- ping -c 3 10.0.1.1", "exec", "h0-0", "ping -c 3 10.0.1.1"},
		{"exec h0-0 ls -l --all", "exec", "h0-0", "ls -l --all"},
		{"exec h0-0", "exec", "h0-0", ""},
		{"exec h0-0 --", "exec", "h0-0", ""},
		{"status circuits", "status", "", ""},
		{"exec h0-0 -- env -- -x", "exec", "h0-0", "env -- -x"},
		{"doctor --calibrate", "doctor true", "", ""},
		{"status -o json", "status", "", ""},
	} {
		t.Run(tc.args, func(t *testing.T) {
			r := &recorder{}
			status, _, stderr := r.run(strings.Fields(tc.args)...)
			if status != 0 || r.asked != tc.asked || r.exec.Host != tc.host || strings.Join(r.exec.Command, " ") != tc.command {
				t.Errorf("status %d, asked %q, %q %q: %s", status, r.asked, r.exec.Host, r.exec.Command, stderr)
			}
		})
	}
}

func TestBadCommandLines(t *testing.T) {
	const replay = "replay --trace t --fabric f "
	for _, tc := range []struct{ args, problem, hint string }{
		{"dmo", `unknown command "dmo"`, "lightloom demo"},
		{"frobnicate", `unknown command "frobnicate"`, "lightloom -h"},
		{"--frob", "unknown flag: --frob", "lightloom -h"},
		{"demo --sede 3", "demo: unknown flag: --sede", "did you mean --seed?"},
		{"demo now", `demo: "now" is not a flag`, "lightloom demo -h"},
		{"demo --seed x", `--seed "x" is no whole number from 0`, "lightloom demo -h"},
		{"demo --seed -1", `--seed "-1" is no whole number from 0`, "lightloom demo -h"},
		{"demo --demand-period 3", `--demand-period "3" is no time, such as 500ms`, "lightloom demo -h"},
		{replay + "--migrate 2", `"2" is not a flag`, "write --migrate=2"},
		{"ps", `unknown command "ps"`, "lightloom status"},
		{"get", `unknown command "get"`, "lightloom status"},
		{"help replay2", `unknown command "replay2"`, "lightloom replay"},
		{"completion tcsh", `unknown command "tcsh"`, "lightloom completion -h"},
		{"topology vaildate", `unknown command "vaildate"`, "lightloom topology validate"},
		{"status --json", "status: unknown flag: --json", "did you mean -o json?"},
		{"status circui", `unknown command "circui"`, "lightloom status circuits"},
		{"status --watch --every 1ms", "--every 1ms is below 100ms", "--every 1s"},
		{"schema frobnicate", `"frobnicate" names no command`, "lightloom schema status"},
		{"schema up", "up has no -o json", "lightloom up -h"},
		{"heal everything", "heal: want a kind and a name, got 1", "lightloom heal link"},
		{"demo --seed", "flag needs an argument", "lightloom demo -h"},
		{"demo -o yaml", `demo: --output "yaml" is unknown`, "--output table or --output json"},
		{"demo --on mars", `demo: --on "mars" is unknown`, "--on netns or --on flowsim"},
		{"demo --dataplane xdp", `--dataplane "xdp"`, "--dataplane mirred"},
		{"demo --replicas 2", "--replicas 2 is none of 1, 3, 5 and 7", "--replicas 3"},
		{"demo --delays darkness=1s", `stage "darkness" is unknown: write commit, rpc, steer, apply, dark, lock or detect`,
			"--delays dark=10ms"},
		{"demo --workload storm", `demo: --workload "storm" is unknown`, "--workload training"},
		{"demo --mtu 20", "--mtu 20 is not within", "--mtu 1500"},
		{"demo --on flowsim --voq-bytes 1000000", "--voq-bytes: the simulator's switches have no queues",
			"leave it away"},
		{"demo --voq-bytes 1000", "--voq-bytes 1000: take 0, or from two segments", "--voq-bytes 1000000"},
		{"demo --queue-bytes 100", "--queue-bytes 100", "65536"},
		{"replay --fabric f", "no trace to replay", "--trace FILE"},
		{"replay --trace t", "no fabric to replay on", "--fabric hybrid:"},
		{replay + "--background 1", "--background 1 is no share", "--background 0.1"},
		{replay + "--background -0.1", "--background -0.1 is no share", "--background 0.1"},
		{replay + "--scale big", `--scale "big" is no number`, "--scale auto"},
		{replay + "--scale 0", `--scale "0" is no number`, "--scale auto"},
		{replay + "--scale NaN", `--scale "NaN" is no number`, "--scale auto"},
		{replay + "--speedup -1", "--speedup -1 is not within", "--speedup 10"},
		{replay + "--coflows -3", "--coflows -3 is below zero", "--coflows 100"},
		{replay + "--policy a,,b", "has an empty name", "--policy random+ecmp"},
		{replay + "--policy a,b,a", `names "a" twice`, "once"},
		{"up", "no fabric to build", "--fabric hybrid:"},
		{"up a b", "want one folder, got 2", "lightloom up DIR"},
		{"up --fabric f a", "both say which fabric", "leave one of them away"},
		{"up --fabric f --demand counters,backlog", "names 2 sources", "--demand counters"},
		{"replay --trace t --fabric f --demand guess", "--demand \"guess\" is unknown", "--demand backlog"},
		{"replay --trace t --fabric f --demand backlog,backlog", "names \"backlog\" twice", "name each source once"},
		{"replay --trace t --fabric f --demand backlog --demand-period 1ms", "is not within 10ms to 1m0s",
			"--demand-period 250ms"},
		{"controller run --fabric hybrid:racks=2,hosts=1 --devices d --tls-dir k --jobs 3 --trace t --workload dag",
			"both say what is replayed", "leave one of them away"},
		{"controller run --fabric hybrid:racks=2,hosts=1 --devices d --tls-dir k --sample-period 1ms", "is below 10ms",
			"--sample-period 1s"},
		{"up --fabric f --policy a,b", "names 2 policies", "--policy crosslayer+sunflow"},
		{"docs --listen 0.0.0.0:80", `serve docs at "0.0.0.0:80"`, "--listen 127.0.0.1:8080"},
		{"exec", "there is no host", "h0-0 -- COMMAND"},
		{"exec -- ls", "no host before --", "h0-0 -- COMMAND"},
		{"status -o xml", `--output "xml"`, "--output json"},
		{"experiment run dawn-sweeps --on netns", `does not run on "netns": thresholds have no name`, "--on flowsim"},
		{"experiment run agreement --on flowsim", `does not run on "flowsim": it sets packets beside`, "--on netns"},
		{"experiment run dawn --on mars", `does not run on "mars": there is no such testbed`, "--on flowsim or --on netns"},
		{"experiment run factorial --loads 3", "factorial is no curve over the offered load", "leave --loads away"},
		{"experiment run coscheduler --loads 1,NaN", "a load of NaN is not between 0.01 and 1000", "--loads 1,3"},
		{"version please", `"please" is not a flag`, "lightloom version -h"},
	} {
		t.Run(tc.args, func(t *testing.T) {
			r := &recorder{}
			status, stdout, stderr := r.run(strings.Fields(tc.args)...)
			if status != statusUsage || r.asked != "" || stdout != "" {
				t.Errorf("status %d, asked %q, stdout %q", status, r.asked, stdout)
			}
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "lightloom: ") || !strings.Contains(lines[0], tc.problem) ||
				!strings.HasPrefix(lines[1], "hint: ") || !strings.Contains(lines[1], tc.hint) {
				t.Errorf("stderr %q; want %q and the hint %q", stderr, tc.problem, tc.hint)
			}
		})
	}
}

// TestWrongNames: whatever name or value is wrong, commands end with the status of usage.
func TestWrongNames(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("faults.txt", []byte("1s fail link tor0-spine9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const fabric, wrong = "hybrid:racks=2,hosts=2", "hybird:racks=2"
	const replay = "replay --on flowsim --trace synthetic --fabric "
	for _, tc := range []struct{ args, problem string }{
		{replay + fabric + " --policy nope", `part "nope" is unknown`},
		{replay + fabric + " --place nope", `part "nope" is unknown`},
		{replay + fabric + " --faults faults.txt", "faults.txt:1:14: there is no link"},
		{replay + fabric + " --faults nope", "open nope"},
		{replay + wrong, `"hybird" is unknown`},
		{replay + "nope.yaml", "open nope.yaml"},
		{"replay --trace nope --fabric " + fabric, "open nope"},
		{"replay --workload storn:jobs=3 --fabric " + fabric, `"storn" is unknown`},
		{"experiment run nope", `find experiment "nope"`},
		{"policy check nope ./x", `"nope" is no question`},
		{"paths --topology fatree:k=4", "is no topology"},
		{"topology show nope.yaml", "open nope.yaml"},
		{"topology convert nope.yaml x.yaml", "open nope.yaml"},
		{"compare a b", "open a"},
		{"rerun nope", "open nope"},
		{"report export nope", "open nope"},
		{"clab nope", "nope"},
		{"up nope", "there is no such directory"},
		{"submit nope.yaml", "open nope.yaml"},
		{"apply -f nope.yaml", "open nope.yaml"},
		{"status --context nope", `there is no context "nope"`},
		{"context use nope", `there is no context "nope"`},
		{"controller run --devices d --tls-dir k --fabric " + wrong, `"hybird" is unknown`},
		{"audit cabling --devices d --tls-dir k --fabric " + wrong, `"hybird" is unknown`},
		{"cluster init d --fabric " + wrong, `"hybird" is unknown`},
		{"replica run --config nope.yaml", "open nope.yaml"},
		{"target run --plaintext --listen 127.0.0.1:0 --profile nope", `"nope" is unknown`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var out, errs bytes.Buffer
			err := run(t.Context(), strings.Fields(tc.args), strings.NewReader(""), &out, &errs)
			if status := printError(&errs, err); status != statusUsage || !strings.Contains(errs.String(), tc.problem) {
				t.Errorf("status %d: %s", status, &errs)
			}
		})
	}
}

// TestPolicyCheck: a program that cannot be asked keeps no laws.
func TestPolicyCheck(t *testing.T) {
	for _, question := range []string{"place", "circuits", "route", "share"} {
		var out bytes.Buffer
		if err := checkPolicy(&out, question, "./nope", 3); err == nil || !strings.Contains(err.Error(), "./nope") {
			t.Errorf("%s: %v, %s", question, err, &out)
		}
	}
}

func TestTell(t *testing.T) {
	disk := &report.DiskError{Dir: "d", Err: os.ErrPermission}
	for _, tc := range []struct {
		name   string
		err    error
		status int
		says   string
	}{
		{"nothing", nil, 0, ""},
		{"interrupted", fmt.Errorf("replay: %w", context.Canceled), 130, "interrupted"},
		{"a command's own status", &console.ExitError{Code: 7}, 7, ""},
		{"a status with a word", &console.ExitError{Code: 7, Err: errors.New("why")}, 7, "lightloom: why\n"},
		{"an error with a hint", fmt.Errorf("demo: %w", disk), 1, "hint: name a directory"},
		{"a plain error", errors.New("no"), 1, "lightloom: no\n"},
		{"a damaged log", fmt.Errorf("lead: %w", &replica.Damage{File: "f", Cause: errors.New("c")}), 9, "join again"},
		{"usage", usage("h", "p"), 2, "lightloom: p\nhint: h\n"},
	} {
		var b strings.Builder
		if got := printError(&b, tc.err); got != tc.status || !strings.Contains(b.String(), tc.says) || tc.says == "" &&
			b.Len() > 0 {
			t.Errorf("%s: status %d, %q; want %d, %q", tc.name, got, b.String(), tc.status, tc.says)
		}
	}
}

// TestExperimentsSayWhere: an experiment runs on both testbeds, or says why on one only.
func TestExperimentsSayWhere(t *testing.T) {
	for _, e := range experiment.All(moreExperiments()...) {
		if (len(e.On) == 2) != (e.Only == "") {
			t.Errorf("experiment %q runs on %v, and says of it %q", e.Name, e.On, e.Only)
		}
	}
}

func TestHelp(t *testing.T) {
	r := &recorder{}
	status, stdout, _ := r.run()
	if status != 0 || r.asked != "" {
		t.Errorf("status %d", status)
	}
	if status, version, _ := r.run("--version"); status != 0 || !strings.HasPrefix(version, "lightloom ") {
		t.Errorf("--version: status %d, %q", status, version)
	}
	for _, name := range []string{"demo", "replay", "up", "exec", "status", "doctor", "version"} {
		if !strings.Contains(stdout, "\n  "+name+" ") {
			t.Errorf("help does not list %s:\n%s", name, stdout)
		}
		if _, help, _ := r.run(name, "-h"); !strings.Contains(help, "Usage:") {
			t.Errorf("%s -h: %s", name, help)
		}
	}
}
