package switches

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
)

// deviation is the flags with which a target deviates from the specification as a product does.
type deviation struct{ like, validate string }

func (d *deviation) flags(fl *pflag.FlagSet) {
	fl.StringVar(&d.like, "like", "", "server that the target behaves as: "+target.LikeSONiC+", with a SONiC profile")
	fl.StringVar(&d.validate, "validate", "", "with --like "+target.LikeSONiC+": how long each Set is validated, such as "+
		"uniform(5s,20s)")
}

// check returns how long each Set is validated, nil for no time. command is whose flags they are.
func (d *deviation) check(command, profile string, seed uint64) (func() time.Duration, error) {
	switch {
	case d.like == "" && d.validate != "":
		return nil, cli.Usage("write --like "+target.LikeSONiC,
			"%s: --validate is of a target that is like %s", command,
			target.LikeSONiC)
	case d.like == "":
		return nil, nil
	case d.like != target.LikeSONiC || !strings.HasPrefix(profile, "sonic"):
		return nil, cli.Usage("write --profile sonic --like "+target.LikeSONiC,
			"%s: --like %q with --profile %q", command,
			d.like, profile)
	case d.validate == "":
		return nil, nil
	}
	delays, err := device.ParseDelays("apply=" + d.validate)
	if err != nil {
		return nil, cli.Usage("write --validate 'uniform(5s,20s)'", "%s: --validate: %w", command, err)
	}
	r := rand.New(rand.NewPCG(seed, 18))
	var mu sync.Mutex
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return delays.Apply.Draw(r)
	}, nil
}
