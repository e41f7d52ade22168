package gnmi_test

import (
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestSONiCForeignRows: rows that others have written, with whatever words, are read and sent again as
// they were.
func TestSONiCForeignRows(t *testing.T) {
	p := gnmi.SONiC{Ports: 2, Racks: 4}
	tables := map[string]string{
		"/CONFIG_DB/localhost/ACL_TABLE": `{"SSH_ONLY":{"policy_desc":"SSH_ONLY","services":["SSH"],"stage":"ingress",` +
			`"type":"CTRLPLANE"},"EVERFLOWV6":{"ports":["Ethernet0"],"stage":"egress","type":"MIRRORV6"}}`,
		"/CONFIG_DB/localhost/ACL_RULE": `{"SSH_ONLY|1":{"DST_IP":"10.2.1.7/24","IP_PROTOCOL":"6","PACKET_ACTION":` +
			`"ACCEPT","PRIORITY":"9998"}}`,
	}
	var config []schema.Leaf
	for at, text := range tables {
		path, err := schema.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		leaves, err := p.Model().DecodeKnown(path, &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{
			JsonIetfVal: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		config = append(config, leaves...)
	}
	req, err := p.NewWriter(config).Encode(&southbound.Change{Rules: []southbound.Rule{rule(2, southbound.AnyTag, 1,
		southbound.NoPort)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range req.GetReplace() {
		sent := string(u.GetVal().GetJsonIetfVal())
		for _, text := range tables {
			for entry := range strings.SplitSeq(strings.Trim(text, "{}"), "},") {
				if name, _, _ := strings.Cut(entry, ":"); strings.Contains(sent, name) && !strings.Contains(sent, entry) {
					t.Errorf("%s is missing in %s", entry, sent)
				}
			}
		}
		if !strings.Contains(sent, "SSH_ONLY") {
			t.Errorf("foreign rows are gone: %s", sent)
		}
	}
}
