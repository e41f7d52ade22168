package killed

import (
	"strings"
	"testing"

	"lightloom/lab/labtest"
)

// TestApply: a change of the fabric is told, made once, refused where it would cut what is held, and undone.
func TestApply(t *testing.T) {
	out := labtest.InRoom(t, labtest.NewRoom(t), `
export LIGHTLOOM_CONTEXTS=contexts.yaml
./lightloom up --fabric hybrid:racks=2,hosts=1,spines=2 --policy random+ecmp > up.log 2>&1 &
up=$!
until_ "grep -q '^up: ' up.log"
./lightloom reserve h0-0 h1-0 --rate 20Mbps --owner ann > reserve.log
over=$(grep -o 'spine[01]' reserve.log | head -1)
printf "drain: [$over]\n" > cut.yaml
./lightloom apply -f cut.yaml 2>&1 | sed 's/^/cut: /'
./lightloom release 1 > /dev/null && echo released
printf "policy: crosslayer+sunflow\ndrain: [$over]\n" > change.yaml
./lightloom apply -f change.yaml --dry-run | sed 's/^/dry run: /'
./lightloom apply -f change.yaml | sed 's/^/apply: /'
./lightloom apply -f change.yaml | sed 's/^/again: /'
./lightloom exec h0-0 -- ping -c 1 10.0.1.1 > /dev/null && echo there is a way
./lightloom status | grep -o 'policy [^ ,]*' | sed 's/^/status: /'
printf 'policy: nonesuch\n' > bad.yaml
./lightloom apply -f bad.yaml > /dev/null 2>&1; echo "bad: status $?"
printf 'drain: []\n' > back.yaml
./lightloom apply -f back.yaml | sed 's/^/back: /'
kill $up
wait $up
`)
	wantAll(t, strings.NewReplacer("spine0", "spine", "spine1", "spine").Replace(out),
		`drain spine: bandwidth reservation 1 of "ann" crosses it: release it first`, "released",
		"dry run: would change to generation 1:", "dry run:   drain spine", "apply: generation 1:",
		"apply:   policy: random+ecmp → crosslayer+sunflow", "apply:   drain spine",
		"again: nothing changes: generation 1 is so already", "there is a way", "status: policy crosslayer+sunflow",
		"bad: status 2", "back: generation 2:", "back:   back in service: spine")
	if strings.Contains(out, "never: ") {
		t.Error(out)
	}
}
