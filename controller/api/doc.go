// Package api is the northbound API: it takes jobs, and returns status, state and events, over Connect
// (HTTP and JSON or protobuf) and mutual TLS. Events are also available as server-sent events.
//
// Any replica takes any call. A call that needs the leader is forwarded to it, once. A client retries
// until there is a leader, under the same request id, so that a batch is accepted once whatever happens
// on the way. The package decides nothing and holds no state: its callers provide Submitter, Stater,
// Eventer, Finder and Indexer.
//
// A read takes what the replica has that is asked, unless the call says otherwise (see Read); every
// answer says which read it is of, and at which index of the log.
//
// The messages are in v1/api.proto. After changing it:
//
//	protoc -I v1 --go_out=v1 --go_opt=paths=source_relative \
//	       --connect-go_out=v1 --connect-go_opt=paths=source_relative v1/api.proto
//
// with protoc-gen-go v1.36.12 and protoc-gen-connect-go v1.21.1, and its page docs/api.md:
//
//	go test ./controller/api -run TestReference -update
package api
