// Package controller holds the words of what is decided: jobs and their coflows, placements, routes, circuits,
// reservations, the View a policy sees and the Plan it answers with.
//
// It decides nothing itself (package policy does), stores nothing (package state does) and touches nothing.
package controller
