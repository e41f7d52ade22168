package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"lightloom/controller/api/v1/apiv1connect"

	apiv1 "lightloom/controller/api/v1"
)

// TestKubeContract: lightloom-kube is a module of its own and has its own client. What it sends and understands stands
// in files, which its tests hold it to; here each has to be a request and an answer of this API.
func TestKubeContract(t *testing.T) {
	files, err := filepath.Glob("../../cmd/lightloom-kube/contract/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no contract is there: %v", err)
	}
	service := apiv1.File_api_proto.Services().ByName("Controller")
	if string(service.FullName()) != apiv1connect.ControllerName {
		t.Errorf("the service is %s", service.FullName())
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		var c struct{ Request, Answer json.RawMessage }
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		method := service.Methods().ByName(protoreflect.Name(name))
		if method == nil {
			t.Errorf("%s: there is no such call", path)
			continue
		}
		if err := protojson.Unmarshal(c.Request, dynamicpb.NewMessage(method.Input())); err != nil {
			t.Errorf("%s: request: %v", path, err)
		}
		if err := protojson.Unmarshal(c.Answer, dynamicpb.NewMessage(method.Output())); err != nil {
			t.Errorf("%s: answer: %v", path, err)
		}
	}
}
