package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// permutations write every circuit of an optical switch as its model has them: input i to output i +
// shift, modulo the number of ports.
var permutations = []struct {
	profile, path string
	circuits      func(ports, shift int) any
}{
	{"ocp", "/connections", func(ports, shift int) any {
		rows := make([]any, ports)
		for i := range rows {
			name := "c" + strconv.Itoa(i)
			rows[i] = map[string]any{"name": name, "config": map[string]string{"name": name,
				"input-port-name": fmt.Sprintf("in%d", i), "output-port-name": fmt.Sprintf("out%d",
					(i+shift)%ports)}}
		}
		return map[string]any{"port-connection": rows}
	}},
	{"sonic-ocs", "sonic-db:/CONFIG_DB/localhost/OCS_CROSS_CONNECT", func(ports, shift int) any {
		rows := map[string]any{}
		for i := range ports {
			a, b := fmt.Sprintf("%dA", i+1), fmt.Sprintf("%dB", (i+shift)%ports+1)
			rows[a+"-"+b] = map[string]string{"a_side": a, "b_side": b}
		}
		return rows
	}},
	{"polatis", "/cross-connects", func(ports, shift int) any {
		rows := make([]any, ports)
		for i := range rows {
			rows[i] = map[string]int{"ingress": i + 1, "egress": ports + (i+shift)%ports + 1}
		}
		return map[string]any{"pair": rows}
	}},
}

// BenchmarkPermutation moves every circuit of a switch of 1,024 ports by one Set of gnmic's command
// line. Its start, TLS, the file and 1 ms of darkness are in the time.
func BenchmarkPermutation(b *testing.B) {
	program := gnmicCommand(b)
	const ports = 1024
	for _, bb := range permutations {
		b.Run(bb.profile, func(b *testing.B) {
			c := startTarget(b, bb.profile, ports).commandLine(program)
			var files [2]string
			for i := range files {
				text, err := json.Marshal(bb.circuits(ports, i+1))
				if err != nil {
					b.Fatal(err)
				}
				files[i] = filepath.Join(b.TempDir(), "circuits.json")
				if err := os.WriteFile(files[i], text, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			for n := 0; b.Loop(); n++ {
				c.must(b, "REPLACE", "set", "--replace-path", bb.path, "--replace-file", files[n%2])
			}
			out, err := c.ask(b, "get", "--path", bb.path)
			if err != nil || strings.Count(out, `"input-port-name"`)+strings.Count(out, "a_side")+
				strings.Count(out, `"ingress"`) < ports {
				b.Fatalf("%v: %d bytes do not show every circuit", err, len(out))
			}
		})
	}
}
