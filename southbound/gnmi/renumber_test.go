package gnmi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// everything is a villain that claims all models.
type everything struct{ villain }

func (everything) Capabilities(_ context.Context,
	_ *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	c := &gpb.CapabilityResponse{}
	for _, p := range gnmi.All(8, 8) {
		if strings.HasPrefix(p.Name(), "sonic-ocs") {
			continue // what has it is no packet switch
		}
		for _, m := range p.Model().Modules {
			c.SupportedModels = append(c.SupportedModels,
				&gpb.ModelData{Name: m.Name, Organization: m.Organization,
					Version: m.Version})
		}
	}
	return c, nil
}

// TestRenumbered: a device that has renamed its ports is an error that names device and path, and other
// devices go on. Ports that a device no longer has are down.
func TestRenumbered(t *testing.T) {
	update := func(m *schema.Model, path, json string) *gpb.Notification {
		p, err := schema.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		return &gpb.Notification{Update: []*gpb.Update{{Path: m.Proto(p), Val: ietf(json)}}}
	}
	const oper = "/interfaces/interface[name=Ethernet%d]/state/oper-status"
	for _, tt := range []struct {
		name    string
		profile gnmi.Profile
		path    string // with a number
		value   string
		numbers []int // the device has these
		err     string
		down    []southbound.Port
	}{
		{"openconfig", gnmi.OpenConfig{Ports: 4, Racks: 4}, oper, `"UP"`, []int{8, 9, 10, 11}, "Ethernet8", nil},
		{"openconfig, some", gnmi.OpenConfig{Ports: 4, Racks: 4}, oper, `"UP"`, []int{2, 3, 4, 5}, "",
			[]southbound.Port{0, 1}},
		{"openconfig, all", gnmi.OpenConfig{Ports: 4, Racks: 4}, oper, `"UP"`, []int{0, 1, 2, 3, 4, 5}, "", nil},
		{"openconfig-plain", gnmi.OpenConfigPlain{Ports: 4, Racks: 4}, oper, `"UP"`, []int{5}, "Ethernet5", nil},
		{"openconfig-plain, silent", gnmi.OpenConfigPlain{Ports: 4, Racks: 4}, oper, `"UP"`, nil, "", nil},
		{"srl-native", gnmi.SRLinux{Ports: 4, Racks: 4}, "/interface[name=ethernet-2/%d]/oper-state", `"up"`,
			[]int{1, 2, 3, 4}, "ethernet-2/1", nil},
		{"srl-native, some", gnmi.SRLinux{Ports: 4, Racks: 4}, "/interface[name=ethernet-1/%d]/oper-state", `"up"`,
			[]int{1, 2, 4}, "", []southbound.Port{2}},
		{"sonic", gnmi.SONiC{Ports: 4, Racks: 4}, "/STATE_DB/localhost/PORT_TABLE[key=Ethernet%d]/netdev_oper_status", `"up"`,
			[]int{1, 2, 3}, "Ethernet1", nil},
		{"sonic, another number of lanes", gnmi.SONiC{Ports: 4, Racks: 4},
			"/STATE_DB/localhost/PORT_TABLE[key=Ethernet%d]/netdev_oper_status", `"up"`, []int{0, 2, 4, 6}, "",
			[]southbound.Port{2, 3}},
		{"ocp", gnmi.OCP{Ports: 4}, "/connections/port-connection[name=in%d-out1]/state/status", `"CONNECTED"`, []int{7},
			`"in7-out1"`, nil},
		{"polatis", gnmi.Polatis{Ports: 4}, "/cross-connects/pair[ingress=%d]/egress", `12`, []int{1},
			"/cross-connects/pair[ingress=1]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := serve(t, everything{villain{subscribe: func(s gpb.GNMI_SubscribeServer) error {
				for _, n := range tt.numbers {
					if err := s.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: update(tt.profile.Model(),
						fmt.Sprintf(tt.path, n), tt.value)}}); err != nil {
						return err
					}
				}
				return s.Send(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}})
			}}})
			d := dial(t, addr, func(c *gnmi.Config) { c.Profile = tt.profile })
			var down []southbound.Port
			synced := false
			err := d.Watch(t.Context(), func(e southbound.DeviceEvent) {
				switch e.Kind {
				case southbound.PortDown:
					down = append(down, e.In)
				case southbound.Synced:
					synced = true
				}
			})
			if synced == (tt.err != "") || fmt.Sprint(down) != fmt.Sprint(tt.down) {
				t.Errorf("synced %v, down %v, want %v", synced, down, tt.down)
			}
			if tt.err != "" && (!strings.Contains(err.Error(), tt.err) ||
				!strings.Contains(err.Error(), "renumbered") ||
				!strings.Contains(err.Error(), `device "villain"`)) {
				t.Errorf("%v, want %q, the device, and a hint", err, tt.err)
			}
		})
	}
}
