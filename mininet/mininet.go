// Package mininet holds the one Python file that makes Mininet run our switches under our controller.
// README.md shows it. It is not a driver: the controller reaches the switches over gNMI, as it does
// everywhere.
package mininet

import _ "embed"

//go:embed lightloom.py
var source string

// Name is what the file is called.
const Name = "lightloom.py"

// Source returns the file.
func Source() string { return source }
