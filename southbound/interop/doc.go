// Package interop holds Lightloom against programs of other projects, over loopback: gnmic's command
// line and library against every model that our targets speak, and our driver against OpenConfig's
// lemming, a switch that checks requests against the schema generated from the published models. It is
// a module of its own, so that their dependencies are not ours.
//
// Our side is the lightloom binary, built from the module around this one.
package interop
