package emulated

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

// mounts is a part of a mountinfo, with a line cut off.
const mounts = `24 1 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw
31 24 0:27 / /sys/fs/cgroup rw shared:9 - tmpfs tmpfs rw,mode=755
33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct
35 31 0:31 / /sys/fs/cgroup/hugetlb,memory rw shared:13 - cgroup cgroup rw,hugetlb,memory
36 31 0:32
`

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
		{"version 1, with another controller", "6:memory,hugetlb:/a\n", map[string]string{
			"hugetlb,memory/a/memory.limit_in_bytes": "600\n"}, 600},
		{"version 1, of another controller", "6:hugetlb:/a\n", map[string]string{
			"hugetlb,memory/a/memory.limit_in_bytes": "600\n"}, none},
		{"another one's", "4:memory:/a\n", map[string]string{"memory/b/memory.limit_in_bytes": "600\n"}, none},
		{"no file of that form", "what\n0::/a\n", map[string]string{"a/memory.max": "1 GB\n"}, none},
	} {
		root := fstest.MapFS{"proc/self/cgroup": {Data: []byte(tt.own)}}
		if strings.Contains(tt.own, "hugetlb") {
			root["proc/self/mountinfo"] = &fstest.MapFile{Data: []byte(mounts)}
		}
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
