package slurm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"lightloom/controller/torus"
	"lightloom/southbound/hint"
)

// Wish is what a job's comment asks of Lightloom.
type Wish struct {
	Circuits string       // None, Wanted or Required
	Shape    *torus.Shape // of a pod: the slice that it runs on; nil: none
}

// How much a job asks for circuits.
const (
	None     = "none"
	Wanted   = "wanted"   // it starts without where they are not there in a few seconds
	Required = "required" // it waits for them
)

// ParseWish finds the word lightloom:circuits=…,shape=… in a comment. Without it nothing is asked for.
func ParseWish(comment string) (Wish, error) {
	const remedy = "write --comment lightloom:circuits=required, or wanted or none, and perhaps ,shape=2x2x2"
	w := Wish{Circuits: None}
	at := strings.Index(comment, "lightloom:")
	if at < 0 {
		return w, nil
	}
	w.Circuits = Wanted
	word := comment[at+len("lightloom:"):]
	if end := strings.IndexFunc(word, unicode.IsSpace); end >= 0 {
		word = word[:end]
	}
	if strings.Trim(word, ",") == "" {
		return w, hint.New("read comment: nothing follows lightloom:", remedy)
	}
	for part := range strings.SplitSeq(word, ",") {
		if part == "" {
			continue // job_submit.lua takes such a word
		}
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "circuits":
			if w.Circuits = value; !slices.Contains([]string{None, Wanted, Required}, value) {
				return w, hint.New(fmt.Sprintf("read comment: circuits=%s is unknown", value), remedy)
			}
		case "shape":
			s, err := torus.ParseShape(value)
			if err != nil {
				return w, hint.Wrap(fmt.Errorf("read comment: %w", err), remedy)
			}
			w.Shape = &s
		default:
			return w, hint.New(fmt.Sprintf("read comment: %q is unknown", part), remedy)
		}
	}
	return w, nil
}

// Job is a job as Slurm's JSON has it.
type Job struct {
	ID      int
	State   string
	Comment string
	Nodes   []string // that it has, or had
	Count   int      // of nodes that it asks for
	Require []string // nodes that it must have
	Named   bool     // by its user's word; otherwise they were chosen for it
	Chosen  []string // nodes that were chosen for it
	Reason  string   // why it waits
	Failed  bool     // a node would not launch it
	Mark    string   // held, releasing, placed, or what anybody else has written

	Partitions []string
	After      time.Time // it does not start before
	Depends    bool      // on others, which have not ended yet
	Requeue    bool      // it can be started again
	Completing bool      // it is over, for now at least, and its nodes still end what it left
}

// due reports whether a job could start now, as far as its own words go.
func (j *Job) due(now time.Time) bool { return !j.Depends && !j.After.After(now) }

// Gone reports whether a job has no use for circuits any more.
func (j *Job) Gone() bool {
	return slices.Contains([]string{"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
		"DEADLINE", "OUT_OF_MEMORY"}, j.State)
}

// runs reports whether a job has nodes, and keeps them.
func (j *Job) runs() bool {
	return !j.Completing && slices.Contains([]string{"RUNNING", "CONFIGURING", "SUSPENDED"}, j.State)
}

// number is a number of Slurm's JSON, which is an object from 23.02 on.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	var x struct{ Number *int }
	if json.Unmarshal(b, &x) == nil && x.Number != nil {
		*n = number(*x.Number)
		return nil
	}
	return json.Unmarshal(b, (*int)(n))
}

// words are a word of Slurm's JSON, or a list of them.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]string)(w)) == nil {
		return nil
	}
	*w = make(words, 1)
	return json.Unmarshal(b, &(*w)[0])
}

// ParseJobs reads what squeue --json prints, of 22.05 and later.
func ParseJobs(b []byte) ([]Job, error) {
	var all struct {
		Jobs []struct {
			ID      int    `json:"job_id"`
			State   words  `json:"job_state"`
			Comment string `json:"comment"`
			Nodes   string `json:"nodes"`
			Count   number `json:"node_count"`
			Require string `json:"required_nodes"`
			Admin   string `json:"admin_comment"`
			Reason  string `json:"state_reason"`
			Words   string `json:"state_description"`
			Part    string `json:"partition"`
			After   number `json:"eligible_time"`
			Depends string `json:"dependency"`
			Requeue bool   `json:"requeue"`
			Batch   bool   `json:"batch_flag"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("read jobs of Slurm: %w", err)
	}
	out := make([]Job, 0, len(all.Jobs))
	for _, x := range all.Jobs {
		j := Job{ID: x.ID, Completing: slices.Contains(x.State, "COMPLETING"), Comment: x.Comment, Count: int(x.Count),
			Reason: x.Reason, Failed: strings.Contains(x.Words, "launch failed"),
			Depends: x.Depends != "", Requeue: x.Requeue && x.Batch}
		j.Mark, j.Named = strings.CutSuffix(x.Admin, named)
		if len(x.State) > 0 {
			j.State = x.State[0]
		}
		if x.Part != "" {
			j.Partitions = strings.Split(x.Part, ",")
		}
		if x.After > 0 {
			j.After = time.Unix(int64(x.After), 0)
		}
		var errs [2]error
		j.Nodes, errs[0] = expandList(x.Nodes)
		j.Require, errs[1] = expandList(x.Require)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("read jobs of Slurm: job %d: %w", x.ID, err)
		}
		j.recall()
		out = append(out, j)
	}
	return out, nil
}

// recall reads from the mark which nodes were chosen, and finds out whether the user has named others, or some of them.
func (j *Job) recall() {
	mark, list, _ := strings.Cut(j.Mark, chosen)
	j.Mark = mark
	j.Chosen, _ = expandList(list) // what is none somebody else has written
	j.Named = len(j.Require) > 0 && (j.Named || j.Mark == held || strings.HasPrefix(j.Mark, refused) ||
		len(j.Chosen) > 0 && (!within(j.Require, j.Chosen) || !within(j.Chosen, j.Require)))
}

// within reports whether all of some nodes are among others.
func within(some, nodes []string) bool {
	in := map[string]bool{}
	for _, n := range nodes {
		in[n] = true
	}
	return !slices.ContainsFunc(some, func(n string) bool { return !in[n] })
}

// expandList returns the names of a list of hosts such as h0-[0-1],h2-0.
func expandList(list string) (out []string, err error) {
	for depth, from, i := 0, 0, 0; i <= len(list); i++ {
		switch {
		case i < len(list) && list[i] == '[':
			depth++
		case i < len(list) && list[i] == ']':
			depth--
		case i == len(list) || list[i] == ',' && depth == 0:
			if word := list[from:i]; word != "" {
				names, err := expand(word)
				if err != nil {
					return nil, err
				}
				out = append(out, names...)
			}
			from = i + 1
		}
		if len(out) > mostNodes {
			return nil, fmt.Errorf("more than %d nodes", mostNodes)
		}
	}
	return out, nil
}

// Client calls Slurm's commands.
type Client struct {
	Env     []string      // beside the process's own
	Longest time.Duration // that a command may take; 0: a minute
}

var errSlow = errors.New("it did not answer in time")

// longest is how long a command may take, and straggle how long what it has started may keep its output open.
const longest, straggle = time.Minute, 5 * time.Second

// Call runs a command for a minute at most, and returns what it prints. Its own words are in the error.
func (c *Client) Call(ctx context.Context, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(c.Longest, longest), errSlow)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = straggle
	cmd.Env = append(cmd.Environ(), c.Env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, hint.Wrap(fmt.Errorf("ask Slurm: %w", err), "install Slurm's commands here: apt-get install slurm-client")
	case err != nil && errors.Is(context.Cause(ctx), errSlow):
		return nil, fmt.Errorf("ask Slurm: %s: %w", argv[0], errSlow)
	case err != nil:
		return nil, fmt.Errorf("ask Slurm: %s: %w: %s", argv[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// Jobs returns the jobs that Slurm knows.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	b, err := c.Call(ctx, "squeue", "--json", "--all", "--states=all")
	if err != nil {
		return nil, err
	}
	return ParseJobs(b)
}

// Job returns one job, which slurmctld finds without a look at others. It is an error if Slurm does not know it.
func (c *Client) Job(ctx context.Context, id int) (Job, error) {
	b, err := c.Call(ctx, "squeue", "--json", "--all", "--states=all", fmt.Sprintf("--jobs=%d", id))
	if err != nil {
		return Job{}, err
	}
	all, err := ParseJobs(b)
	if at := slices.IndexFunc(all, func(j Job) bool { return j.ID == id }); err == nil && at >= 0 {
		return all[at], nil
	}
	return Job{}, errors.Join(err, fmt.Errorf("ask Slurm: it knows no job %d", id))
}

// Nodes returns the nodes and partitions, hidden ones too.
func (c *Client) Nodes(ctx context.Context) (Nodes, error) {
	b, err := c.Call(ctx, "sinfo", "--noheader", "--all", "--Node", "--format="+NodesFormat)
	if err != nil {
		return Nodes{}, err
	}
	return ParseNodes(string(b))
}

// Preempts reports whether jobs of a higher PriorityTier end those of a lower one.
func (c *Client) Preempts(ctx context.Context) (bool, error) {
	b, err := c.Call(ctx, "scontrol", "show", "config")
	return preemptType.Match(b), err
}

var preemptType = regexp.MustCompile(`(?m)^PreemptType\s*=\s*preempt/partition_prio$`)

// Preempt ends a job for another one as Slurm would: it starts again later if it can, but not once it has finished.
func (c *Client) Preempt(ctx context.Context, job int, requeue bool) (err error) {
	if requeue {
		_, err = c.Call(ctx, "scontrol", "requeue", "Incomplete", strconv.Itoa(job))
	} else {
		_, err = c.Call(ctx, "scancel", strconv.Itoa(job))
	}
	return err
}

// The administrator's comments of jobs: they are held until their circuits are lit; or their nodes were chosen,
// and they are about to be released; or they were, and get other nodes once one fails; or they are about to be released
// without circuits, or were; or cannot have what they ask for.
const (
	held      = "lightloom:held"
	releasing = "lightloom:releasing"
	placed    = "lightloom:placed"
	leaving   = "lightloom:releasing without circuits"
	without   = "lightloom:without"
	refused   = "lightloom:refused: "

	// named follows where the user has named the job's nodes: no others are chosen for it later.
	named = ", on nodes that it names"

	// chosen is followed by the nodes that were chosen for the job. Where it has others, its user has written them since.
	chosen = ", on nodes chosen for it: "
)

// marked is a mark as the job's comment has it. The nodes of a job that is refused are its user's, if it has any.
func (j *Job) marked(mark string) string {
	switch {
	case strings.HasPrefix(mark, refused):
		return mark
	case j.Named:
		return mark + named
	case len(j.Chosen) > 0 && (mark == placed || mark == releasing):
		return mark + chosen + strings.Join(j.Chosen, ",")
	}
	return mark
}

// Lost reports whether a job waits for nodes that were chosen, which perhaps have failed or are others' by now.
func (j *Job) Lost() bool {
	return j.State == "PENDING" && (j.Mark == placed || j.Mark == releasing) &&
		!strings.HasPrefix(j.Reason, "JobHeld")
}

// Left reports whether a job was released without circuits, and its mark does not say so yet.
func (j *Job) Left() bool {
	return j.Mark == leaving && !j.Gone() && !strings.HasPrefix(j.Reason, "JobHeld")
}

// Held reports whether a job is held until its circuits are lit. So is one that slurmctld holds because a node would
// not launch it: a slurmctld that dies forgets its last seconds, and starts anew what runs already.
func (j *Job) Held() bool {
	return j.State == "PENDING" && strings.HasPrefix(j.Reason, "JobHeld") &&
		(j.Mark == held || j.Mark == releasing || j.Mark == leaving || j.Mark == placed && j.Failed)
}

// Refused reports whether a job stays held since it cannot have what it asks for.
func (j *Job) Refused() bool {
	return j.State == "PENDING" && strings.HasPrefix(j.Reason, "JobHeld") && strings.HasPrefix(j.Mark, refused)
}

// Mark writes the administrator's comment of a job.
func (c *Client) Mark(ctx context.Context, j *Job, mark string) error {
	_, err := c.Call(ctx, "scontrol", "update", fmt.Sprintf("JobId=%d", j.ID), "AdminComment="+j.marked(mark))
	return err
}

// Release has a held job wait for its turn again.
func (c *Client) Release(ctx context.Context, job int) error {
	_, err := c.Call(ctx, "scontrol", "release", strconv.Itoa(job))
	return err
}

// Require has a pending job wait for nodes, or for any where none are named, and marks it as one to release.
func (c *Client) Require(ctx context.Context, j *Job, nodes []string) error {
	j.Chosen = nodes
	_, err := c.Call(ctx, "scontrol", "update", fmt.Sprintf("JobId=%d", j.ID), "ReqNodeList="+strings.Join(nodes, ","),
		"AdminComment="+j.marked(releasing))
	return err
}

// Hold has a job that was released wait once more.
func (c *Client) Hold(ctx context.Context, j *Job) error {
	_, err := c.Call(ctx, "scontrol", "update", fmt.Sprintf("JobId=%d", j.ID), "Priority=0",
		"AdminComment="+j.marked(releasing))
	return err
}

// Move has a node be in another unit of a topology from now on: at once, until the next reconfigure.
func (c *Client) Move(ctx context.Context, node, unit string) error {
	_, err := c.Call(ctx, "scontrol", "update", "NodeName="+node, "Topology="+Name+":"+unit)
	return err
}

// Reconfigure has Slurm read its files again.
func (c *Client) Reconfigure(ctx context.Context) error {
	_, err := c.Call(ctx, "scontrol", "reconfigure")
	return err
}

// Version returns the version of Slurm's commands.
func (c *Client) Version(ctx context.Context) (Version, error) {
	b, err := c.Call(ctx, "scontrol", "--version")
	if err != nil {
		return Version{}, err
	}
	return ParseVersion(string(b))
}
