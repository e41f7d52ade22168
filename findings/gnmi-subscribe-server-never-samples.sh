#!/usr/bin/env bash
# Guess: the Subscribe server that OpenConfig's gnmi library brings sends a SAMPLE subscription its values every
#        sample_interval, or refuses the mode.
# Seen:  it serves every mode as ON_CHANGE, and says nothing: in 1.5 s at an interval of 100 ms a value that stands
#        comes once, where fifteen are due.
# With:  openconfig/gnmi 0.14.1 (cache and subscribe), gRPC 1.85.0.
set -euo pipefail
modules=(github.com/openconfig/gnmi@v0.14.1 google.golang.org/grpc@v1.85.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/openconfig/gnmi/cache"
	pb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/subscribe"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

var octets = &pb.Path{Elem: []*pb.PathElem{{Name: "octets"}}}

func main() {
	device := &pb.Path{Target: "dev", Origin: "openconfig"}
	store := cache.New([]string{"dev"})
	server := must(subscribe.NewServer(store))
	store.SetClient(server.Update)
	if err := store.GetTarget("dev").GnmiUpdate(&pb.Notification{Timestamp: time.Now().UnixNano(), Prefix: device,
		Update: []*pb.Update{{Path: octets, Val: &pb.TypedValue{Value: &pb.TypedValue_UintVal{UintVal: 1}}}}}); err != nil {
		log.Fatal(err)
	}
	store.GetTarget("dev").Sync()
	at := must(net.Listen("tcp", "127.0.0.1:0"))
	g := grpc.NewServer()
	pb.RegisterGNMIServer(g, server)
	go g.Serve(at)
	defer g.Stop()

	conn := must(grpc.NewClient(at.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())))
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	stream := must(pb.NewGNMIClient(conn).Subscribe(ctx))
	if err := stream.Send(&pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{Subscribe: &pb.SubscriptionList{
		Prefix: device, Mode: pb.SubscriptionList_STREAM, Subscription: []*pb.Subscription{{
			Path: octets, Mode: pb.SubscriptionMode_SAMPLE, SampleInterval: uint64(100 * time.Millisecond)}}}}}); err != nil {
		log.Fatal(err)
	}
	values, synced := 0, false
	for {
		r, err := stream.Recv()
		if status.Code(err) == codes.DeadlineExceeded {
			break
		}
		if must(r, err).GetSyncResponse() {
			synced = true
			continue
		}
		values++
	}
	fmt.Printf("%d value, sync_response %t", values, synced)
}
GO
go mod tidy 2>/dev/null
same "in 1.5 s at 100 ms" "$(go run .)" "1 value, sync_response true"
