#!/usr/bin/env bash
# Guess: topNodes of Kubernetes' JavaScript client gives as a node's requests what the scheduler has set aside there.
# Seen:  it adds up the containers of pods that run. It leaves out the init containers (the greatest counts, where it is
#        more than the containers' sum), overhead, and pods that are bound to the node and still fetch their image. Here
#        it gives 2 of 7.25 CPUs: 6 of 8 seem free, and 0.75 are.
# With:  @kubernetes/client-node 1.4.0 (npm).
set -euo pipefail
packages=(@kubernetes/client-node@1.4.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  npm init -y && npm install --no-audit --no-fund "${packages[@]}"
} >/dev/null 2>&1 || { echo "needs Node.js, npm and its registry"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.mjs <<'JS'
import { topNodes } from "@kubernetes/client-node";
const cpu = n => ({ resources: { requests: { cpu: n } } });
const pods = [{
  spec: {
    nodeName: "n1", overhead: { cpu: "250m" },
    initContainers: [cpu("4")], containers: [cpu("1500m"), cpu("500m")],
  },
  status: { phase: "Running" },
}, {
  spec: { nodeName: "n1", containers: [cpu("3")] },
  status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "True" }] },
}];
const node = { metadata: { name: "n1" }, status: { allocatable: { cpu: "8", memory: "16Gi" } } };
const [{ CPU }] = await topNodes({
  listNode: async () => ({ items: [node] }),
  listPodForAllNamespaces: async () => ({ items: pods }),
});
console.log(CPU.Capacity, CPU.RequestTotal);
JS
same "CPUs of the node, and CPUs requested there" "$(node main.mjs)" "8 2"
