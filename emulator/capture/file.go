package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
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

// linkUpperPDU is LINKTYPE_WIRESHARK_UPPER_PDU: tags that name a dissector, then what it dissects.
const linkUpperPDU layers.LinkType = 252

// File writes a pcapng file. pcapgo writes its frame (section, interfaces, statistics); packets are written here,
// because pcapgo has no words for comments and directions.
type File struct {
	w    io.Writer
	ng   *pcapgo.NgWriter
	room bytes.Buffer
}

// NewFile begins a file of the packets of one port.
func NewFile(w io.Writer, opt *Options) (*File, error) {
	f := &File{w: w}
	first := pcapgo.NgInterface{Name: opt.Port, OS: runtime.GOOS, LinkType: layers.LinkTypeEthernet,
		SnapLength: uint32(opt.SnapLen)}
	var err error
	f.ng, err = pcapgo.NewNgWriterInterface(w, first, pcapgo.NgWriterOptions{
		SectionInfo: pcapgo.NgSectionInfo{Application: opt.Program, OS: runtime.GOOS, Comment: opt.About}})
	if err == nil && !opt.PacketsOnly {
		_, err = f.ng.AddInterface(pcapgo.NgInterface{Name: "circuits", Description: "what circuits did meanwhile",
			OS: runtime.GOOS, LinkType: linkUpperPDU})
	}
	if err == nil {
		err = f.ng.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("write capture: %w", err)
	}
	return f, nil
}

// Constants of the format (draft-ietf-opsawg-pcapng, sections 3.5 and 4.3).
const (
	enhancedPacket = 6
	optEnd         = 0
	optComment     = 1
	optFlags       = 2
	flagInbound    = 1
	flagOutbound   = 2
	fixedBytes     = 32 // of the block without packet and options
)

// Packet adds a packet.
func (f *File) Packet(p Frame) error {
	flags := uint32(flagInbound)
	if p.Out {
		flags = flagOutbound
	}
	var opts []byte
	opts = binary.LittleEndian.AppendUint16(opts, optFlags)
	opts = binary.LittleEndian.AppendUint16(opts, 4)
	opts = binary.LittleEndian.AppendUint32(opts, flags)
	return f.block(packets, p.At, p.Data, p.Size, opts)
}

// severity is local use 0, notice (RFC 5424, section 6.2.1).
const severity = "<133>"

// Note adds a note.
func (f *File) Note(n Note) error {
	body := upperPDU("syslog", severity+"lightloom: "+n.Text)
	var opts []byte
	opts = binary.LittleEndian.AppendUint16(opts, optComment)
	opts = binary.LittleEndian.AppendUint16(opts, uint16(len(n.Text)))
	opts = pad(append(opts, n.Text...))
	return f.block(notes, n.At, body, len(body), opts)
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

// block writes one enhanced packet block. opts are whole options without their end.
func (f *File) block(intf uint32, at time.Time, data []byte, size int, opts []byte) error {
	opts = append(opts, optEnd, 0, 0, 0)
	total := uint32(fixedBytes + (len(data)+3)/4*4 + len(opts))
	nanos := uint64(at.UnixNano())
	b := &f.room
	b.Reset()
	word := func(v uint32) { b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), v)) }
	for _, v := range []uint32{enhancedPacket, total, intf, uint32(nanos >> 32), uint32(nanos), uint32(len(data)),
		uint32(size)} {
		word(v)
	}
	b.Write(data)
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
	b.Write(opts)
	word(total)
	if _, err := f.w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

// End writes how much was seen and lost. Nothing is written afterwards.
func (f *File) End(r Result) error {
	err := f.ng.WriteInterfaceStats(packets, pcapgo.NgInterfaceStatistics{LastUpdate: r.Ended, StartTime: r.Began,
		EndTime:         r.Ended,
		PacketsReceived: r.Packets + r.Dropped, PacketsDropped: r.Dropped})
	if err == nil {
		err = f.ng.Flush()
	}
	if err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}
