package inventory_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/inventory"
)

// TestDialRESTCONF: a switch that has RESTCONF only is a device like any other, and its refusal has its
// name.
func TestDialRESTCONF(t *testing.T) {
	var user string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ = r.BasicAuth()
		if r.URL.Path != "/api/data/optical-switch:cross-connects" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/yang-data+json")
		_, _ = w.Write([]byte(`{"optical-switch:cross-connects":{"pair":[{"ingress":2,"egress":5}]}}`))
	}))
	defer s.Close()
	open := func(url string) (southbound.Seen, error) {
		f, err := inventory.Parse("f.yaml", []byte("devices:\n- {name: ocs, address: "+url+", profile: polatis, ports: 4, "+
			"tls: {plaintext: true}}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := f.Devices[0].Dial(t.Context(), nil)
		if err != nil {
			return southbound.Seen{}, err
		}
		defer d.Close()
		return d.Read(t.Context())
	}
	seen, err := open(s.URL + "/api")
	want := southbound.Connection{In: 1, Out: 0, Status: southbound.Connected}
	if err != nil || len(seen.Connections) != 1 || seen.Connections[0] != want || user != "" {
		t.Errorf("%+v as %q, %v", seen, user, err)
	}
	if _, err := open(s.URL + "/elsewhere"); err == nil || !strings.Contains(err.Error(), `device "ocs" at http://127`) {
		t.Error(err)
	}
}
