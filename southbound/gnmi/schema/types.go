package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
)

// What can be wrong with a path or a value. A target turns each into its status code.
var (
	// ErrUnknown: the model has no such path.
	ErrUnknown = errors.New("the model has no such path")
	// ErrMalformed: the path or the value is not of the model's form.
	ErrMalformed = errors.New("malformed")
	// ErrReadOnly: the path is state, not configuration.
	ErrReadOnly = errors.New("the path is read-only")
	// ErrEncoding: the encoding of the value is not one of JSON_IETF, JSON and PROTO.
	ErrEncoding = errors.New("the encoding is not supported")
)

// Value is what a leaf holds: string (also for enumerations, identities, addresses and decimals), bool,
// int64, uint64, or a []Value in a leaf-list. An identity is held without its module.
type Value any

// base is the family of a type.
type base uint8

const (
	baseString base = iota
	baseBool
	baseUint
	baseInt
	baseDecimal
	baseEnum
	baseIdentity
	basePrefix
	baseAddress
	baseAddress6
	baseList
	baseLoose
	baseDateTime
	baseNote
)

// Type is the type of a leaf.
type Type struct {
	base   base
	bits   int      // of integers
	digits int      // of decimals, after the point
	names  []string // of enumerations and identities
	module string   // of identities
	of     *Type    // of leaf-lists
}

// String is any text.
func String() Type { return Type{base: baseString} }

// Note is a text of up to maxNote bytes that nobody but its writer understands.
func Note() Type { return Type{base: baseNote} }

// Bool is true or false.
func Bool() Type { return Type{base: baseBool} }

// Address is an IPv4 address.
func Address() Type { return Type{base: baseAddress} }

// Address6 is an IPv6 address. It stays as it was written, since it is the key of its entry too.
func Address6() Type { return Type{base: baseAddress6} }

// Prefix is an IPv4 prefix without host bits.
func Prefix() Type { return Type{base: basePrefix} }

// Loose is a string or a list of strings: what is only carried along.
func Loose() Type { return Type{base: baseLoose, of: &Type{}} }

// DateTime is an instant as RFC 3339 writes it (yang:date-and-time).
func DateTime() Type { return Type{base: baseDateTime} }

// Uint is an unsigned integer of 8, 16, 32 or 64 bits.
func Uint(bits int) Type { return Type{base: baseUint, bits: bits} }

// Int is a signed integer of as many bits.
func Int(bits int) Type { return Type{base: baseInt, bits: bits} }

// Decimal is a decimal64 with that many digits after the point.
func Decimal(digits int) Type { return Type{base: baseDecimal, digits: digits} }

// Enum is one of the names.
func Enum(names ...string) Type { return Type{base: baseEnum, names: names} }

// Identity is one of the names too, which JSON_IETF writes with its module.
func Identity(module string, names ...string) Type {
	return Type{base: baseIdentity, module: module, names: names}
}

// ListOf is a leaf-list without duplicates.
func ListOf(t Type) Type { return Type{base: baseList, of: &t} }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), ErrMalformed)
}

// Check returns v if it is a value of the type.
func (t Type) check(v Value) (Value, error) {
	switch x := v.(type) {
	case string:
		return t.text(x)
	case bool:
		if t.base == baseBool {
			return x, nil
		}
	case uint64:
		return t.unsigned(x)
	case int64:
		switch {
		case t.base == baseInt && (t.bits == 64 || x>>(t.bits-1) == 0 || x>>(t.bits-1) == -1):
			return x, nil
		case t.base == baseUint && x >= 0:
			return t.unsigned(uint64(x))
		}
	case []Value:
		return t.list(x)
	}
	return nil, malformed("%v is no %v", v, t)
}

func (t Type) unsigned(x uint64) (Value, error) {
	switch {
	case t.base == baseUint && (t.bits == 64 || x>>t.bits == 0):
		return x, nil
	case t.base == baseInt && x>>(t.bits-1) == 0:
		return int64(x), nil
	}
	return nil, malformed("%d is no %v", x, t)
}

// list checks a list in place.
func (t Type) list(xs []Value) (Value, error) {
	if t.base != baseList && t.base != baseLoose {
		return nil, malformed("a list is no %v", t)
	}
	out := xs[:0]
	for _, x := range xs {
		v, err := t.of.check(x)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, v) {
			return nil, malformed("%v stands twice in a leaf-list", v)
		}
		out = append(out, v)
	}
	return out, nil
}

// text checks what travels as a string: everything but booleans, lists and, in JSON, numbers of up to
// 32 bits.
func (t Type) text(s string) (Value, error) {
	most := maxText
	if t.base == baseNote {
		most = maxNote
	}
	if len(s) > most {
		return nil, malformed("a text of %d bytes: at most %d are taken", len(s), most)
	}
	switch t.base {
	case baseString, baseNote, baseLoose:
		return strings.Clone(s), nil // the text that it is part of may be a long one
	case baseEnum:
		if i := slices.Index(t.names, s); i >= 0 {
			return t.names[i], nil
		}
	case baseIdentity:
		if module, name, ok := strings.Cut(s, ":"); ok && module == t.module {
			s = name
		}
		if i := slices.Index(t.names, s); i >= 0 {
			return t.names[i], nil
		}
	case baseAddress:
		if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
			return a.String(), nil
		}
	case baseAddress6:
		if a, err := netip.ParseAddr(s); err == nil && !a.Is4() && a.Zone() == "" {
			return strings.Clone(s), nil
		}
	case basePrefix:
		if p, err := netip.ParsePrefix(s); err == nil && p.Addr().Is4() && p.Masked() == p {
			return p.String(), nil
		}
	case baseDecimal:
		return t.decimal(s)
	case baseDateTime:
		if _, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return strings.Clone(s), nil
		}
	}
	return nil, malformed("%q is no %v", s, t)
}

// decimal writes a decimal with all its digits.
func (t Type) decimal(s string) (Value, error) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 32)
	if _, ferr := strconv.ParseUint("1"+frac, 10, 32); err != nil || ferr != nil || len(frac) > t.digits {
		return nil, malformed("%q is no %v", s, t)
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%s", sign, n, frac+strings.Repeat("0", t.digits-len(frac))), nil
}

func (t Type) String() string {
	switch t.base {
	case baseString:
		return "string"
	case baseBool:
		return "boolean"
	case baseUint:
		return fmt.Sprintf("uint%d", t.bits)
	case baseInt:
		return fmt.Sprintf("int%d", t.bits)
	case baseDecimal:
		return fmt.Sprintf("decimal64 of %d digits", t.digits)
	case baseEnum:
		return "one of " + strings.Join(t.names, ", ")
	case baseIdentity:
		return "one of " + t.module + ":{" + strings.Join(t.names, ", ") + "}"
	case basePrefix:
		return "IPv4 prefix"
	case baseAddress:
		return "IPv4 address"
	case baseAddress6:
		return "IPv6 address"
	case baseDateTime:
		return "date-and-time"
	case baseLoose:
		return "string or list of strings"
	}
	return "list of " + t.of.String()
}

// fromJSON reads a decoded JSON value (numbers as json.Number). ietf says that 64-bit integers and
// decimals are strings and identities carry their module (RFC 7951); plain JSON takes numbers too.
func (t Type) fromJSON(v any, ietf bool) (Value, error) {
	switch x := v.(type) {
	case json.Number:
		return t.number(x.String(), ietf)
	case string:
		switch {
		case t.base == baseUint && t.bits == 64, t.base == baseInt && t.bits == 64:
			return t.number(x, false)
		case ietf && t.base == baseIdentity && !strings.Contains(x, ":"):
			return nil, malformed("identity %q lacks its module: write %q", x, t.module+":"+x)
		}
		return t.check(x)
	case []any:
		xs := make([]Value, len(x))
		for i := range x {
			if t.base != baseList && t.base != baseLoose {
				return nil, malformed("a list is no %v", t)
			}
			e, err := t.of.fromJSON(x[i], ietf)
			if err != nil {
				return nil, err
			}
			xs[i] = e
		}
		return t.check(xs)
	case bool:
		return t.check(x)
	}
	return nil, malformed("%v is no %v", v, t)
}

func (t Type) number(s string, ietf bool) (Value, error) {
	if ietf && (t.bits == 64 || t.base == baseDecimal) {
		return nil, malformed("%s: JSON_IETF writes %v as a string", s, t)
	}
	if t.base == baseDecimal {
		return t.decimal(s)
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return t.check(u)
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return t.check(i)
	}
	return nil, malformed("%s is no %v", s, t)
}

// toJSON is the inverse of fromJSON, in the IETF form.
func (t Type) toJSON(v Value) any {
	switch x := v.(type) {
	case uint64:
		if t.bits == 64 {
			return strconv.FormatUint(x, 10)
		}
	case int64:
		if t.bits == 64 {
			return strconv.FormatInt(x, 10)
		}
	case string:
		if t.base == baseIdentity {
			return t.module + ":" + x
		}
	case []Value:
		out := make([]any, len(x))
		for i := range x {
			out[i] = t.of.toJSON(x[i])
		}
		return out
	}
	return v
}

// fromScalar reads the scalar forms of a TypedValue (encoding PROTO).
func (t Type) fromScalar(tv *gpb.TypedValue) (Value, error) {
	switch x := tv.GetValue().(type) {
	case *gpb.TypedValue_StringVal:
		return t.check(x.StringVal)
	case *gpb.TypedValue_DoubleVal:
		if t.base == baseDecimal {
			return t.check(strconv.FormatFloat(x.DoubleVal, 'f', t.digits, 64))
		}
	case *gpb.TypedValue_BoolVal:
		return t.check(x.BoolVal)
	case *gpb.TypedValue_UintVal:
		return t.check(x.UintVal)
	case *gpb.TypedValue_IntVal:
		return t.check(x.IntVal)
	case *gpb.TypedValue_LeaflistVal:
		els := x.LeaflistVal.GetElement()
		xs := make([]Value, len(els))
		for i, e := range els {
			if t.base != baseList && t.base != baseLoose {
				return nil, malformed("a list is no %v", t)
			}
			v, err := t.of.fromScalar(e)
			if err != nil {
				return nil, err
			}
			xs[i] = v
		}
		return t.check(xs)
	case nil:
		return nil, malformed("no value")
	}
	return nil, fmt.Errorf("a value as %T: %w", tv.GetValue(), ErrEncoding)
}

// toScalar is the inverse of fromScalar.
func toScalar(v Value) *gpb.TypedValue {
	switch x := v.(type) {
	case bool:
		return &gpb.TypedValue{Value: &gpb.TypedValue_BoolVal{BoolVal: x}}
	case uint64:
		return &gpb.TypedValue{Value: &gpb.TypedValue_UintVal{UintVal: x}}
	case int64:
		return &gpb.TypedValue{Value: &gpb.TypedValue_IntVal{IntVal: x}}
	case []Value:
		l := &gpb.ScalarArray{}
		for _, e := range x {
			l.Element = append(l.Element, toScalar(e))
		}
		return &gpb.TypedValue{Value: &gpb.TypedValue_LeaflistVal{LeaflistVal: l}}
	case string:
		return &gpb.TypedValue{Value: &gpb.TypedValue_StringVal{StringVal: x}}
	}
	panic(fmt.Sprintf("schema: %T is no value", v))
}

// Equal compares two values.
func Equal(a, b Value) bool {
	as, aok := a.([]Value)
	bs, bok := b.([]Value)
	if aok || bok {
		return aok && bok && slices.EqualFunc(as, bs, Equal)
	}
	return a == b
}
