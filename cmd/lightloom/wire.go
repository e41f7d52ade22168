package main

// wired returns what the binary's commands do.
func wired() actions { return actions{} }
