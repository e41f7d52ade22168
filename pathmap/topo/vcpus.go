package topo

import (
	"strconv"
	"strings"
)

// MaxVCPUs bounds the vCPUs of a host.
const MaxVCPUs = 1 << 12

// VCPUs returns how many vCPUs a host has for tasks: what the spec says of hosts in turn, or one a slot.
func (f *Fabric) VCPUs(host int) int32 {
	if len(f.vcpus) == 0 {
		return int32(f.Spec.Slots)
	}
	return f.vcpus[host%len(f.vcpus)]
}

// Pod returns the pod of a rack: racks under the same aggregation switches of a fat-tree. Other fabrics
// are one pod.
func (f *Fabric) Pod(rack int) int {
	if f.Spec.Kind != FatTreeKind {
		return 0
	}
	return rack / max(f.Spec.K/2, 1)
}

// parseVCPUs reads numbers of vCPUs between slashes; "" gives none.
func parseVCPUs(text string) ([]int32, error) {
	if text == "" {
		return nil, nil
	}
	var out []int32
	for _, word := range strings.Split(text, "/") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > MaxVCPUs {
			return nil, wrong("vcpus", "%q is no whole number from 1 to %d: write vcpus=8, or vcpus=16/4 for hosts in turn",
				word, MaxVCPUs)
		}
		out = append(out, int32(n))
	}
	return out, nil
}

func setVCPUs(s *Spec, value string) error {
	s.VCPUs = value
	_, err := parseVCPUs(value)
	return err
}
