// Package onwire tests what runs on hosts, the agent and LLDP, over real links: hosts in namespaces,
// shaped links, tags that choose paths and optical circuits. It holds tests only: they run inside
// namespaces, which southbound knows nothing of.
package onwire
