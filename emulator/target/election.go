package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/durable"
	"lightloom/southbound/gnmi"
)

// arbiter knows the largest election id of every role, and keeps it in a file where there is one: a
// target that forgot it over a restart would obey a controller that has been deposed.
type arbiter struct {
	strict bool
	file   string
	ids    map[string]gnmi.Election // by role
}

// maxRoles bounds what clients can make the target remember.
const maxRoles = 16

// newArbiter returns an arbiter with what the file keeps; "" keeps nothing. A strict one refuses a Set
// without an election id.
func newArbiter(strict bool, file string) (*arbiter, error) {
	a := &arbiter{strict: strict, file: file, ids: map[string]gnmi.Election{}}
	if file == "" {
		return a, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &a.ids)
	}
	if err != nil {
		return nil, fmt.Errorf("read election ids: %w", err)
	}
	return a, nil
}

// Admit checks the extensions of a Set: an equal or larger id is taken and kept, a smaller one refused.
func (a *arbiter) Admit(exts []*gnmi_ext.Extension) error {
	var found *gnmi_ext.MasterArbitration
	for _, e := range exts {
		switch x := e.GetExt().(type) {
		case *gnmi_ext.Extension_MasterArbitration:
			if found != nil {
				return status.Error(codes.InvalidArgument, "two master arbitrations in one request")
			}
			found = x.MasterArbitration
		case *gnmi_ext.Extension_Commit, *gnmi_ext.Extension_History:
			return status.Errorf(codes.Unimplemented, "extension %T is not supported", x)
		}
	}
	if found != nil && found.GetElectionId() == nil {
		return status.Error(codes.InvalidArgument, "a master arbitration without an election id")
	}
	if found == nil {
		if a.strict {
			return status.Error(codes.PermissionDenied, "a Set must carry an election id here")
		}
		return nil
	}
	id := gnmi.Election{High: found.GetElectionId().GetHigh(), Low: found.GetElectionId().GetLow()}
	return a.Claim(found.GetRole().GetId(), id)
}

// Claim takes an id under a role.
func (a *arbiter) Claim(role string, id gnmi.Election) error {
	old, known := a.ids[role]
	switch {
	case known && id.Less(old):
		return status.Errorf(codes.PermissionDenied, "election id %d.%d is smaller than %d.%d", id.High,
			id.Low, old.High,
			old.Low)
	case known && id == old:
		return nil
	case !known && len(a.ids) >= maxRoles || len(role) > 64:
		return status.Errorf(codes.ResourceExhausted, "at most %d roles of 64 bytes are kept", maxRoles)
	}
	a.ids[role] = id
	if err := a.save(!known || id.High > old.High); err != nil {
		if known {
			a.ids[role] = old
		} else {
			delete(a.ids, role)
		}
		return status.Errorf(codes.Internal, "keep election id: %v", err)
	}
	return nil
}

// save replaces the file as a whole. A new leader's first id is forced to the disk; the ones that count
// its writes need to outlive the target only, not the machine, whose connections die with it.
func (a *arbiter) save(force bool) error {
	if a.file == "" {
		return nil
	}
	data, err := json.Marshal(a.ids)
	if err != nil {
		return err
	}
	return durable.Replace(a.file, data, force)
}

// Highest returns the largest id that was taken under a role; the zero value where none was.
func (a *arbiter) Highest(role string) gnmi.Election { return a.ids[role] }
