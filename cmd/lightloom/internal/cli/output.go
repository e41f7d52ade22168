package cli

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"lightloom/lab/console"
)

// formatValue is the flag -o: one of a few formats, and the Go value that the command writes as JSON,
// whose type gives the schema.
type formatValue struct {
	to    *string
	known []string
	shape any
}

func (v *formatValue) String() string { return *v.to }
func (v *formatValue) Type() string   { return strings.Join(v.known, "|") }

func (v *formatValue) Set(s string) error {
	if !slices.Contains(v.known, s) {
		return fmt.Errorf("%q is unknown", s)
	}
	*v.to = s
	return nil
}

// OutputFlag adds -o to a command. shape is a value of the type that its JSON has.
func OutputFlag(c *cobra.Command, to *string, shape any, more ...string) {
	*to = console.OutputTable
	v := &formatValue{to, append([]string{console.OutputTable, console.OutputJSON}, more...), shape}
	c.Flags().VarP(v, "output", "o", "output format; lightloom schema prints the JSON's schema")
	_ = c.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions(v.known, cobra.ShellCompDirectiveNoFileComp))
}

// ShapeOf returns what OutputFlag was given.
func ShapeOf(c *cobra.Command) (any, bool) {
	f := c.Flags().Lookup("output")
	if f == nil {
		return nil, false
	}
	v, ok := f.Value.(*formatValue)
	if !ok {
		return nil, false
	}
	return v.shape, true
}

// SchemaOf describes the JSON form of a value's type. A reader of it must expect further keys in later
// versions.
func SchemaOf(command string, shape any) (*jsonschema.Schema, error) {
	own := map[reflect.Type]*jsonschema.Schema{}
	marshallers(reflect.TypeOf(shape), map[reflect.Type]bool{}, own)
	s, err := jsonschema.ForType(reflect.TypeOf(shape), &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", command, err)
	}
	open(s)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", command+" -o json"
	return s, nil
}

// marshallers collects the types that write themselves: as a string, or as anything.
func marshallers(t reflect.Type, seen map[reflect.Type]bool, own map[reflect.Type]*jsonschema.Schema) {
	if seen[t] {
		return
	}
	seen[t] = true
	is := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	switch {
	case t.Kind() == reflect.Pointer: // by its element
	case is(reflect.TypeFor[json.Marshaler]()):
		own[t] = &jsonschema.Schema{}
		return
	case is(reflect.TypeFor[encoding.TextMarshaler]()):
		own[t] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		marshallers(t.Elem(), seen, own)
	case reflect.Struct:
		for i := range t.NumField() {
			marshallers(t.Field(i).Type, seen, own)
		}
	}
}

// open allows keys that a schema does not name.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}
