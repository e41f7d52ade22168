package chakra

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of a file.
const (
	mostMessage = 64 << 20 // bytes; a file's first message can hold a whole algorithm
	mostNodes   = 4 << 20
	mostDeps    = 64 << 20
)

// mostMemory bounds what the nodes of all files take of memory together. A node takes nodeMemory beside its message,
// even where that is empty.
const (
	mostMemory = 16 << 30
	nodeMemory = 512
)

// record is a node as the file has it.
type record struct {
	id       uint64
	name     string
	kind     uint64
	deps     []uint64
	duration uint64 // µs
	inputs   string

	cpu   bool
	ints  map[string]int64 // attributes
	group string
	dims  []bool
}

// number tells whether an attribute is read as an integer.
func number(name string) bool {
	switch name {
	case "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "comm_priority", "num_ops", "tensor_size":
		return true
	}
	return false
}

// decode reads a file's messages. What they take of memory is taken from left.
func decode(in io.Reader, left *int64) (version string, nodes []record, err error) {
	r := bufio.NewReaderSize(in, 1<<16)
	deps := 0
	for i := 0; ; i++ {
		m, err := message(r)
		switch {
		case errors.Is(err, io.EOF) && i > 0:
			return version, nodes, nil
		case errors.Is(err, io.EOF):
			return "", nil, errors.New("the file is empty: write a Chakra trace, whose first message is its metadata")
		case err != nil:
			return "", nil, fmt.Errorf("message %d: %w", i, err)
		case i > mostNodes:
			return "", nil, fmt.Errorf("more than %d nodes", mostNodes)
		}
		if i == 0 {
			if version, err = metadata(m); err != nil {
				return "", nil, fmt.Errorf("message 0, the metadata: %w: is this a Chakra trace (.et)?", err)
			}
			continue
		}
		n, err := node(m)
		if err != nil {
			return "", nil, fmt.Errorf("message %d: %w: is this a Chakra trace (.et)?", i, err)
		}
		if deps += len(n.deps); deps > mostDeps {
			return "", nil, fmt.Errorf("more than %d dependencies", mostDeps)
		}
		if *left -= nodeMemory + int64(len(m)+8*len(n.deps)); *left < 0 {
			return "", nil, fmt.Errorf("message %d: this rank and those before it have more nodes than memory is taken for: "+
				"write a trace of fewer ranks, or with fewer nodes", i)
		}
		nodes = append(nodes, n)
	}
}

// message reads one message after its length.
func message(r *bufio.Reader) ([]byte, error) {
	var size uint64
	for shift := 0; ; shift += 7 {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && shift > 0:
			return nil, errors.New("the file ends within a length: fetch it again")
		case err != nil:
			return nil, err
		case shift > 28:
			return nil, errors.New("it has no length: is this a Chakra trace (.et)?")
		}
		if size |= uint64(b&0x7f) << shift; b < 0x80 {
			break
		}
	}
	if size > mostMessage {
		return nil, fmt.Errorf("it has %d bytes, more than %d: is this a Chakra trace (.et)?", size, mostMessage)
	}
	m, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err == nil && uint64(len(m)) < size {
		err = fmt.Errorf("the file ends after %d of its %d bytes: fetch it again", len(m), size)
	}
	return m, err
}

// field is one field of a message: a number, or bytes.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64 // of a varint or a fixed one
	bytes  []byte
}

// fields calls f with each field of a message.
func fields(m []byte, f func(field) error) error {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return protowire.ParseError(n)
		}
		m = m[n:]
		x := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			x.value, n = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			x.value, n = protowire.ConsumeFixed64(m)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(m)
			x.value = uint64(v)
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(m)
		default:
			n = protowire.ConsumeFieldValue(number, kind, m)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		m = m[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// metadata reads the version of the first message, or that of its attribute schema, such as 1.0.2-chakra.0.0.4.
func metadata(m []byte) (version string, err error) {
	schema := ""
	err = fields(m, func(x field) error {
		switch x.number {
		case metadataVersion:
			version = string(x.bytes)
		case metadataAttribute:
			a, err := attributeOf(x.bytes)
			if a.name == "schema" {
				schema = a.text
			}
			return err
		}
		return nil
	})
	if version == "" {
		version = schema
	}
	return version, err
}

func node(m []byte) (record, error) {
	n := record{ints: map[string]int64{}}
	err := fields(m, func(x field) error {
		switch x.number {
		case nodeID:
			n.id = x.value
		case nodeName:
			n.name = string(x.bytes)
		case nodeType:
			n.kind = x.value
		case nodeControl, nodeData:
			return n.depend(x)
		case nodeDuration:
			n.duration = x.value
		case nodeInputs:
			return fields(x.bytes, func(x field) error {
				if x.number == inputValues {
					n.inputs = string(x.bytes)
				}
				return nil
			})
		case nodeAttribute:
			a, err := attributeOf(x.bytes)
			if err == nil {
				err = n.attribute(a)
			}
			return err
		}
		return nil
	})
	return n, err
}

// depend adds ids of nodes that a node waits for, packed or one by one.
func (n *record) depend(x field) error {
	if x.kind == protowire.VarintType {
		n.deps = append(n.deps, x.value)
		return nil
	}
	for b := x.bytes; len(b) > 0; {
		v, k := protowire.ConsumeVarint(b)
		if k < 0 {
			return protowire.ParseError(k)
		}
		n.deps, b = append(n.deps, v), b[k:]
	}
	return nil
}

func (n *record) attribute(a attribute) error {
	switch {
	case a.name == "is_cpu_op":
		n.cpu = a.number != 0
	case a.name == "pg_name":
		if n.group = a.text; a.isNumber {
			n.group = fmt.Sprint(a.number)
		}
	case a.name == "involved_dim":
		n.dims = a.bools
	case number(a.name):
		if !a.isNumber {
			return fmt.Errorf("node %d: %s is no integer", n.id, a.name)
		}
		n.ints[a.name] = a.number
	}
	return nil
}

// attribute is a named value of any of the types that the schema has for it.
type attribute struct {
	name     string
	number   int64
	isNumber bool
	text     string
	bools    []bool
}

func attributeOf(m []byte) (attribute, error) {
	var a attribute
	err := fields(m, func(x field) error {
		v, isNumber := int64(0), true
		switch x.number {
		case attributeInt32, attributeInt64, attributeUint32, attributeUint64, attributeFixed32, attributeFixed64,
			attributeSfixed64, attributeBool:
			v = int64(min(x.value, math.MaxInt64))
			if x.number == attributeInt32 || x.number == attributeInt64 || x.number == attributeSfixed64 {
				v = int64(x.value)
			}
		case attributeSfixed32:
			v = int64(int32(x.value))
		case attributeSint32, attributeSint64:
			v = protowire.DecodeZigZag(x.value)
		case attributeFloat, attributeDouble:
			v, isNumber = whole(x)
		default:
			isNumber = false
		}
		switch x.number {
		case attributeName:
			a.name = string(x.bytes)
		case attributeString, attributeBytes:
			a.text = string(x.bytes)
		case attributeBools:
			return fields(x.bytes, func(x field) error { return a.flags(x) })
		}
		if isNumber {
			a.number, a.isNumber = v, true
		}
		return nil
	})
	return a, err
}

// whole returns a real number that is an integer.
func whole(x field) (int64, bool) {
	f := math.Float64frombits(x.value)
	if x.kind == protowire.Fixed32Type {
		f = float64(math.Float32frombits(uint32(x.value)))
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// flags adds the values of a list of booleans.
func (a *attribute) flags(x field) error {
	if x.number != listValues {
		return nil
	}
	if x.kind == protowire.VarintType {
		a.bools = append(a.bools, x.value != 0)
	}
	for _, b := range x.bytes {
		a.bools = append(a.bools, b != 0)
	}
	return nil
}
