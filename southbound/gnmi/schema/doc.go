// Package schema is the part of the OpenConfig and Open Compute models that Lightloom's devices are
// programmed with: small tables of paths, types and keys, written by hand. The emulated target
// validates with it, the driver decodes with it, and tests check every payload of every profile against
// it.
//
// It is not a YANG compiler, and holds no data.
package schema
