// Package chakra reads and writes Chakra execution traces (mlcommons/chakra, schemas 0.0.4 and 1.0.0), a file a rank:
// protobuf messages, each after its length, of which the first describes the file and every other one is a node. It
// reads what a simulation of communication needs, by the field numbers of that project's et_def.proto.
//
// Memory nodes and collectives with a root other than broadcasts are refused: nothing here models them.
package chakra
