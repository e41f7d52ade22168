package schema

// PolatisModule is the name of the Polatis model in Capabilities.
const PolatisModule = "optical-switch"

// Polatis returns the model of Polatis optical switches: a list of pairs by ingress port. Ports are
// counted from 1; those of the egress side follow those of the ingress side.
func Polatis() *Model {
	return newModel("polatis", []Module{{PolatisModule, "Polatis", ""}}, []Row{
		{Path: "/cross-connects/pair[ingress]/ingress", Type: Uint(16)},
		{Path: "/cross-connects/pair[ingress]/egress", Type: Uint(16)},
	})
}
