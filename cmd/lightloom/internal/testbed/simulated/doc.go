// Package simulated is the testbed in virtual time: the flow-level simulator under the controller's own Step, whose log
// is an unserialised call and whose devices and hosts have the direct door. The same scenario gives the same outcome,
// byte for byte.
package simulated
