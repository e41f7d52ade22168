// Package ebpf moves packets with one small BPF program a switch, run by the classifier of a shared
// ingress block. It needs CAP_BPF and CAP_NET_ADMIN outside of any user namespace: root.
//
// A switch is its program and one array map of one value that both sides see as memory: the program
// reads it, Go writes it through a mapping. A whole table is an idle bank of three that is filled, then
// one store of the generation; a rule, a port's light and a circuit are one store each. The
// instructions are written with cilium/ebpf/asm, so that no user needs a C compiler.
//
// It is not XDP: on virtual interfaces that is slower, and cannot queue.
package ebpf
