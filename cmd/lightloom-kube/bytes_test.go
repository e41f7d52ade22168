package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lightloom/cmd/lightloom-kube/gating"
	"lightloom/cmd/lightloom-kube/northbound"
)

// shuffle sends bytes from each pod to the next, with a program that knows nothing of Lightloom. Pods tell each other
// where they are by files. One fails at first, before it does anything.
const shuffle = `set -e
if [ "$JOB_COMPLETION_INDEX" = 2 ] && mkdir "$DIR/failed"; then exit 1; fi
echo "$NODE" >"$DIR/$JOB_COMPLETION_INDEX.new"
mv "$DIR/$JOB_COMPLETION_INDEX.new" "$DIR/$JOB_COMPLETION_INDEX"
iperf3 -s -1 -p 5301 >/dev/null &
next=$DIR/$(((JOB_COMPLETION_INDEX + 1) % PODS))
until [ -e "$next" ]; do sleep 0.1; done
for try in $(seq 100); do
  iperf3 -c "$(cat "$next")" -p 5301 -n "$SIZE" --json >"$DIR/$JOB_COMPLETION_INDEX.json" && break
  sleep 0.2
done
wait
`

// TestBytes: the pods of a Job, whose commands run in the hosts that they are released onto, send real bytes over their
// circuits, and the circuits go once the commands have ended. For a pod whose command fails the Job makes another,
// which is released onto a host with circuits as well.
func TestBytes(t *testing.T) {
	measured(t)
	f, s, ours := startFabric(t, racks), startServers(t), build(t)
	s.apply()
	s.nodesOf(f, 4, 2)
	start(t, t.TempDir(), ours, "--socket", f.socket, "--kubeconfig", s.kubeconfig("ours"), "--settle", "2s")
	const pods, size = 5, 20 << 20
	dir := t.TempDir()
	j := newJob("shuffle", pods, map[string]string{})
	box := &j.Spec.Template.Spec.Containers[0]
	box.Command = []string{"sh", "-c", shuffle}
	box.Env = []corev1.EnvVar{{Name: "DIR", Value: dir}, {Name: "PODS", Value: fmt.Sprint(pods)},
		{Name: "SIZE", Value: fmt.Sprint(size)}, {Name: "NODE", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	before := f.sent(t)
	began := time.Now()
	j, err := s.admin.batch.Jobs("default").Create(t.Context(), j, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the Job to end", func() bool { return s.ended("shuffle") })
	t.Logf("%d pods, %v", pods, time.Since(began).Round(time.Millisecond))
	after := f.sent(t)
	flows, payload := s.crossing(dir, pods)
	ocs, eps := after.ocs-before.ocs, after.eps-before.eps
	t.Logf("%d of %d flows between racks, %d bytes: %d over circuits, %d over packets", flows, pods, payload, ocs, eps)
	if payload == 0 || ocs < payload || eps > payload/10 {
		t.Error("they do not go over circuits")
	}
	north := northbound.DialSocket(f.socket)
	await(t, "its slice to go", func() bool {
		_, err := north.Slice(t.Context(), gating.SliceName(j.UID))
		return northbound.IsUnknown(err)
	})
}

// crossing returns how many flows of a shuffle were between racks, and how many bytes of these arrived: iperf3 ends
// a flow whose last bytes are on their way.
func (s *servers) crossing(dir string, pods int) (flows int, payload int64) {
	s.Helper()
	rack := map[int]string{}
	for i := range pods {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			s.Fatal(err)
		}
		node := strings.TrimSpace(string(b))
		if !slices.ContainsFunc(s.pods("shuffle"), func(p corev1.Pod) bool { return p.Spec.NodeName == node }) {
			s.Errorf("no pod is bound to %s, where one ran", node)
		}
		rack[i], _, _ = strings.Cut(node, "-")
	}
	for i := range pods {
		var said struct {
			End struct {
				Received struct {
					Bytes int64 `json:"bytes"`
				} `json:"sum_received"`
			} `json:"end"`
		}
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)+".json"))
		if err == nil {
			err = json.Unmarshal(b, &said)
		}
		if err != nil || said.End.Received.Bytes == 0 {
			s.Errorf("pod %d has sent nothing: %v, %s", i, err, b)
		}
		if rack[i] != rack[(i+1)%pods] {
			flows++
			payload += said.End.Received.Bytes
		}
	}
	return flows, payload
}

// sent are bytes that racks have sent.
type sent struct{ ocs, eps int64 }

// sent counts them at the ports of racks: those at the optical switch, and those at packet switches above.
func (f *fabric) sent(t *testing.T) (out sent) {
	t.Helper()
	b, err := f.in(t.Context(), "tor0", "ip", "-json", "-stats", "link").Output()
	var all []struct {
		Name  string `json:"ifname"`
		Peer  string `json:"link"`
		Stats struct {
			TX struct {
				Bytes int64 `json:"bytes"`
			} `json:"tx"`
		} `json:"stats64"`
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		switch {
		case !strings.HasPrefix(x.Name, "tor"):
		case strings.HasPrefix(x.Peer, "ocs"):
			out.ocs += x.Stats.TX.Bytes
		case strings.HasPrefix(x.Peer, "spine"):
			out.eps += x.Stats.TX.Bytes
		}
	}
	return out
}
