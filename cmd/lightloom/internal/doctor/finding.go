package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/southbound/hint"
)

// Finding is the answer to one question.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to type or do, where OK is false and something helps
}

// answers are the output of the process inside.
type answers struct {
	Findings []Finding             `json:"findings"`
	Carried  pathmap.BitsPerSecond `json:"carried,omitempty"`
	Failed   string                `json:"failed,omitempty"` // why Carried is not known
}

// Run makes all findings except the machine's capacity. It takes under a second.
func Run(ctx context.Context) []Finding {
	all := outside(ctx)
	in, err := ask(ctx, false)
	if err != nil {
		return append(all, wrong("namespaces", err))
	}
	return append(all, in.Findings...)
}

// Print is the command doctor: it prints findings on stdout, a line each, and with calibrate the result of Calibrate.
// Inside namespaces it writes the answers that the process outside reads.
func Print(ctx context.Context, calibrate bool, stdout io.Writer) error {
	if netns.Inside() {
		return answer(ctx, calibrate, stdout)
	}
	for _, f := range Run(ctx) {
		if err := line(stdout, f); err != nil {
			return err
		}
	}
	if !calibrate {
		return nil
	}
	rate, err := Calibrate(ctx)
	if err != nil {
		return err
	}
	return line(stdout, Finding{Name: "carries", OK: true, Detail: fmt.Sprintf(
		"%.1f Gb/s through ToR, spine and ToR; --scale auto keeps the sum of port rates below %.1f Gb/s", gbps(rate),
		gbps(rate)/4)})
}

func gbps(r pathmap.BitsPerSecond) float64 { return float64(r) / 1e9 }

func line(w io.Writer, f Finding) error {
	mark := "ok"
	if !f.OK {
		mark = "no"
	}
	if _, err := fmt.Fprintf(w, "%s  %-20s %s\n", mark, f.Name, f.Detail); err != nil {
		return err
	}
	if f.OK || f.Fix == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "    %-20s fix: %s\n", "", f.Fix)
	return err
}

// wrong makes a finding of an error, with its hint if it has one.
func wrong(name string, err error) Finding {
	return Finding{Name: name, Detail: err.Error(), Fix: hint.Of(err)}
}

func answer(ctx context.Context, calibrate bool, stdout io.Writer) error {
	room, err := netns.Prepare()
	if err != nil {
		return err
	}
	a := answers{Findings: inside(room)}
	if calibrate {
		if a.Carried, err = measure(ctx); err != nil {
			a.Failed = err.Error()
		}
	}
	return json.NewEncoder(stdout).Encode(a)
}
