// Package onwire tests the agent over real links: hosts in namespaces, shaped links, tags that choose paths and optical
// circuits. It holds tests only, apart from the agent's own because they run inside namespaces.
package onwire
