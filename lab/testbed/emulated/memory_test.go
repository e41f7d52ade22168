package emulated

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestCgroupMemory: of the limits of a cgroup and of those above it the lowest counts.
func TestCgroupMemory(t *testing.T) {
	const none = math.MaxInt64
	for _, tt := range []struct {
		name, own string
		files     map[string]string
		want      int64
	}{
		{"none", "", nil, none},
		{"version 2", "0::/user.slice/a.service\n", map[string]string{
			"user.slice/a.service/memory.max": "700000000\n", "user.slice/memory.max": "max\n"}, 700_000_000},
		{"above it", "0::/user.slice/a.service\n", map[string]string{
			"user.slice/a.service/memory.max": "max\n", "user.slice/memory.max": "500\n"}, 500},
		{"a container's root", "0::/\n", map[string]string{"memory.max": "500\n"}, 500},
		{"of a parent of the container", "0::/../b\n", map[string]string{"memory.max": "500\n"}, 500},
		{"version 1", "9:name=systemd:/x\n4:memory:/docker/c\n1:cpu,cpuacct:/x\n0::/\n", map[string]string{
			"memory/docker/c/memory.limit_in_bytes": "600\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}, 600},
		{"version 1, in a container", "4:memory:/docker/c\n", map[string]string{
			"memory/memory.limit_in_bytes": "600\n"}, 600},
		{"another one's", "4:memory:/a\n", map[string]string{"memory/b/memory.limit_in_bytes": "600\n"}, none},
		{"no file of that form", "what\n0::/a\n", map[string]string{"a/memory.max": "1 GB\n"}, none},
	} {
		root := fstest.MapFS{"proc/self/cgroup": {Data: []byte(tt.own)}}
		for at, text := range tt.files {
			root["sys/fs/cgroup/"+at] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cgroupMemory(root); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := cgroupMemory(fstest.MapFS{}); got != none {
		t.Errorf("without /proc: %d", got)
	}
}
