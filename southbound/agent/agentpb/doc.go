// Package agentpb is the generated code of agent.proto, the protocol between a leader and an agent of
// hosts. Users of the module never need protoc: the generated files are part of it.
package agentpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative
// agent.proto
