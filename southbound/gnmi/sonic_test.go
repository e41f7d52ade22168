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
	req, err := p.NewWriter(config).Encode(&southbound.Change{Rules: []southbound.Rule{rule(2,
		southbound.AnyTag, 1,
		southbound.NoPort)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range req.GetReplace() {
		sent := string(u.GetVal().GetJsonIetfVal())
		for _, text := range tables {
			for entry := range strings.SplitSeq(strings.Trim(text, "{}"), "},") {
				if name, _, _ := strings.Cut(entry, ":"); strings.Contains(sent, name) &&
					!strings.Contains(sent, entry) {
					t.Errorf("%s is missing in %s", entry, sent)
				}
			}
		}
		if !strings.Contains(sent, "SSH_ONLY") {
			t.Errorf("foreign rows are gone: %s", sent)
		}
	}
}

// TestSONiCTags: a row of ours matches a tag by its three bits alone; another's mask, or none, is told of.
func TestSONiCTags(t *testing.T) {
	p := gnmi.SONiC{Ports: 2, Racks: 4}
	for text, want := range map[string]int{"5/7": 5, "0/7": 0, "8/7": -1, "5": -1, "5/63": -1,
		"/7": -1, "x/7": -1} {
		var row []schema.Leaf
		for field, value := range map[string]string{"DST_IP": southbound.RackPrefix(2).String(), "DSCP": text,
			"REDIRECT_ACTION": gnmi.NextHop(1).String()} {
			at, err := schema.Parse("/CONFIG_DB/localhost/ACL_RULE[key=" + gnmi.ForwardingPolicy + "|p1]/" + field)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, schema.Leaf{Path: at, Value: value})
		}
		seen, err := p.Seen(row)
		switch {
		case want < 0 && (err == nil || !strings.Contains(err.Error(), text)):
			t.Errorf("DSCP %q is read as %+v, %v", text, seen.Rules, err)
		case want >= 0 && (err != nil || len(seen.Rules) != 1 || int(seen.Rules[0].Tag) != want):
			t.Errorf("DSCP %q is read as %+v, %v, want tag %d", text, seen.Rules, err, want)
		}
	}
}
