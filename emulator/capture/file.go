package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/google/gopacket"
)

// Note is something that happened beside the packets.
type Note struct {
	At   time.Time
	Text string // one line
}

// Interfaces of the file.
const (
	packets = 0
	notes   = 1
)

// Link types: Ethernet, and LINKTYPE_WIRESHARK_UPPER_PDU: tags that name a dissector, then what it dissects.
const (
	linkEthernet = 1
	linkUpperPDU = 252
)

// File writes a pcapng file. gopacket's writer has no words for comments and directions, and brings the
// tables of all protocols; tests read the files with gopacket.
type File struct {
	w    io.Writer
	room gopacket.SerializeBuffer // of the block that is written
}

// NewFile begins a file of the packets of one port.
func NewFile(w io.Writer, opt *Options) (*File, error) {
	f := &File{w: w, room: gopacket.NewSerializeBuffer()}
	section := binary.LittleEndian.AppendUint32(nil, byteOrder)
	section = binary.LittleEndian.AppendUint16(section, 1) // version 1.0
	section = binary.LittleEndian.AppendUint16(section, 0)
	section = binary.LittleEndian.AppendUint64(section, math.MaxUint64) // of a length that is not known
	section = appendOption(section, optUserApplication, []byte(opt.Program))
	section = appendOption(section, optComment, []byte(opt.About))
	section = appendOption(section, optOS, []byte(runtime.GOOS))
	err := f.block(blockSection, section)
	if err == nil {
		err = f.port(linkEthernet, opt.SnapLen, opt.Port, "")
	}
	if err == nil && !opt.PacketsOnly {
		err = f.port(linkUpperPDU, 0, "circuits", "what circuits did meanwhile")
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// port begins what the format calls an interface. Times are in nanoseconds.
func (f *File) port(link uint16, snapLen int, name, description string) error {
	b := binary.LittleEndian.AppendUint16(nil, link)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(snapLen))
	b = appendOption(b, optName, []byte(name))
	b = appendOption(b, optDescription, []byte(description))
	b = appendOption(b, optTimeResolution, []byte{9})
	return f.block(blockInterface, appendOption(b, optInterfaceOS, []byte(runtime.GOOS)))
}

// Constants of the format (draft-ietf-opsawg-pcapng, sections 3.5 and 4).
const (
	blockSection    = 0x0a0d0d0a
	blockInterface  = 1
	blockStatistics = 5
	blockPacket     = 6
	byteOrder       = 0x1a2b3c4d

	optEnd     = 0
	optComment = 1

	optOS              = 3 // of a section
	optUserApplication = 4

	optName           = 2 // of an interface
	optDescription    = 3
	optTimeResolution = 9
	optInterfaceOS    = 12

	optFlags     = 2 // of a packet
	flagInbound  = 1
	flagOutbound = 2

	optStart    = 2 // of statistics
	optStop     = 3
	optReceived = 4
	optDropped  = 5
)

// appendOption adds an option to a block, unless it is empty.
func appendOption(b []byte, code uint16, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	return pad(append(b, value...))
}

// appendTime adds an instant as the format splits it: the upper half first.
func appendTime(b []byte, at time.Time) []byte {
	nanos := uint64(at.UnixNano())
	b = binary.LittleEndian.AppendUint32(b, uint32(nanos>>32))
	return binary.LittleEndian.AppendUint32(b, uint32(nanos))
}

// Packet adds a packet.
func (f *File) Packet(p Frame) error {
	flags := uint32(flagInbound)
	if p.Out {
		flags = flagOutbound
	}
	return f.packet(packets, p.At, p.Data, p.Size, optFlags, binary.LittleEndian.AppendUint32(nil, flags))
}

// severity is local use 0, notice (RFC 5424, section 6.2.1).
const severity = "<133>"

// Note adds a note.
func (f *File) Note(n Note) error {
	body := upperPDU("syslog", severity+"lightloom: "+n.Text)
	return f.packet(notes, n.At, body, len(body), optComment, []byte(n.Text))
}

// upperPDU says which dissector reads text (EXP_PDU_TAG_DISSECTOR_NAME, in the order of the network).
func upperPDU(dissector, text string) []byte {
	const tagDissector, tagEnd = 12, 0
	name := pad([]byte(dissector))
	b := binary.BigEndian.AppendUint16(nil, tagDissector)
	b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint16(b, tagEnd)
	b = binary.BigEndian.AppendUint16(b, 0)
	return append(b, text...)
}

func pad(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// packet writes one enhanced packet block with an option.
func (f *File) packet(port uint32, at time.Time, data []byte, size int, code uint16, value []byte) error {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 64+len(data)+len(value)), port)
	b = appendTime(b, at)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return f.block(blockPacket, appendOption(pad(append(b, data...)), code, value))
}

// block writes a block whose body is a multiple of four bytes, options with it.
func (f *File) block(kind uint32, body []byte) error {
	const around = 16 // kind, length, end of options, length
	total := uint32(len(body) + around)
	if err := f.room.Clear(); err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	b, err := f.room.AppendBytes(int(total))
	if err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	binary.LittleEndian.PutUint32(b, kind)
	binary.LittleEndian.PutUint32(b[4:], total)
	copy(b[8:], body)
	binary.LittleEndian.PutUint32(b[total-8:], optEnd)
	binary.LittleEndian.PutUint32(b[total-4:], total)
	if _, err := f.w.Write(b); err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

// End writes how much was seen and lost. Nothing is written afterwards.
func (f *File) End(r Result) error {
	b := appendTime(binary.LittleEndian.AppendUint32(nil, packets), r.Ended)
	for _, o := range []struct {
		code  uint16
		value []byte
	}{
		{optStart, appendTime(nil, r.Began)}, {optStop, appendTime(nil, r.Ended)},
		{optReceived, binary.LittleEndian.AppendUint64(nil, r.Packets+r.Dropped)},
		{optDropped, binary.LittleEndian.AppendUint64(nil, r.Dropped)},
	} {
		b = appendOption(b, o.code, o.value)
	}
	return f.block(blockStatistics, b)
}
