// Package controller defines the controller's data types: jobs and their coflows, placements, routes,
// circuits, reservations, the View that a policy sees and the Plan that it returns.
//
// It decides nothing (package policy does), stores nothing (package state does) and touches no device.
package controller
