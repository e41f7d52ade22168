package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"lightloom/pathmap/plaintext"
)

// maxSparkLine bounds a line that is kept, in bytes.
const maxSparkLine = 16 << 20

// sparkKept are the events that are read.
func sparkKept() []string {
	return []string{"SparkListenerApplicationStart", "SparkListenerJobStart", "SparkListenerStageSubmitted",
		"SparkListenerStageCompleted", "SparkListenerTaskEnd"}
}

// sparkLine returns the next line, and whether it has its end; empty without one at the end of the
// text. Of an event that is not read it returns a blank, however long it is. It is valid until the next
// call.
func sparkLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	part, err := in.ReadSlice('\n')
	if !isSparkKept(part) {
		for errors.Is(err, bufio.ErrBufferFull) {
			part, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) && !bytes.HasSuffix(bytes.TrimSpace(part), []byte("}")) {
			return nil, false, io.ErrUnexpectedEOF
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		return []byte(" "), err == nil, nil
	}
	if line = part; errors.Is(err, bufio.ErrBufferFull) {
		if !bytes.HasPrefix(bytes.TrimSpace(part), []byte("{")) {
			return nil, false, errors.New("it begins no JSON object: this is no Spark event log")
		}
		line = bytes.Clone(part)
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = in.ReadSlice('\n')
		if cap(line)-len(line) < len(part) {
			line = slices.Grow(line, len(line)+len(part)) // twice as much
		}
		if line = append(line, part...); len(line) > maxSparkLine {
			return nil, false, fmt.Errorf("longer than %d bytes: this is no Spark event log", maxSparkLine)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	return line, err == nil, nil
}

// isSparkKept reports whether a line, by its beginning, is to be read: what begins as no event is, too,
// and is refused then.
func isSparkKept(line []byte) bool {
	name, ok := bytes.CutPrefix(line, []byte(`{"Event":"`))
	if !ok {
		return true
	}
	for _, kept := range sparkKept() {
		if bytes.HasPrefix(name, []byte(kept+`"`)) {
			return true
		}
	}
	return bytes.IndexByte(name, '"') < 0
}

// sparkText returns the text of a file of an event log, compressed as its first bytes say; done frees
// what it took.
func sparkText(r io.Reader) (text *bufio.Reader, done func(), err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	head, _ := in.Peek(16) // what is wrong with it is found when it is read
	done = func() {}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("decompress: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), done, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxFramed))
		if err != nil {
			return nil, nil, fmt.Errorf("decompress zstd: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), z.Close, nil
	case bytes.HasPrefix(head, []byte{0x04, 0x22, 0x4d, 0x18}):
		return nil, nil, errors.New("it is a frame of the lz4 program, and Spark writes blocks of its own: unpack it with " +
			"lz4 -d FILE")
	case bytes.HasPrefix(head, []byte(lz4Magic)):
		return bufio.NewReaderSize(&framed{in: in, next: lz4Block}, 1<<16), done, nil
	case bytes.HasPrefix(head, []byte(snappyMagic)):
		if _, err := in.Discard(len(snappyMagic) + 8); err != nil { // and two versions
			return nil, nil, io.ErrUnexpectedEOF
		}
		return bufio.NewReaderSize(&framed{in: in, next: snappyBlock}, 1<<16), done, nil
	case bytes.HasPrefix(head, []byte("ZV")):
		return nil, nil, errors.New("it is compressed by lzf, which is not read: unpack it with java -jar " +
			"compress-lzf.jar -d FILE, or have Spark write spark.eventLog.compression.codec=zstd")
	}
	return plaintext.NewReader(in), done, nil
}

// The framings of Spark's codecs: net.jpountz.lz4.LZ4BlockOutputStream and
// org.xerial.snappy.SnappyOutputStream.
const (
	lz4Magic    = "LZ4Block"
	snappyMagic = "\x82SNAPPY\x00"
	maxFramed   = 32 << 20 // bytes of a block, unpacked: the most that lz4's framing can say
)

// framed is a text in compressed blocks.
type framed struct {
	in   *bufio.Reader
	next func(in *bufio.Reader) ([]byte, error) // io.EOF between blocks
	left []byte
}

func (f *framed) Read(p []byte) (int, error) {
	for len(f.left) == 0 {
		var err error
		if f.left, err = f.next(f.in); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// lz4Block reads a block: magic, method, two lengths, and the checksum of what is unpacked, of which Java keeps
// 28 bits. The last block has neither text nor checksum.
func lz4Block(in *bufio.Reader) ([]byte, error) {
	var head [21]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	packed, plain := binary.LittleEndian.Uint32(head[9:]), binary.LittleEndian.Uint32(head[13:])
	if string(head[:8]) != lz4Magic || packed > maxFramed || plain > maxFramed {
		return nil, errors.New("a block of lz4 is damaged: fetch the file again")
	}
	data, err := block(in, packed)
	if err != nil {
		return nil, err
	}
	out := data
	if method := head[8] & 0xf0; method != 0x10 {
		out = make([]byte, plain)
		if n, err := lz4.UncompressBlock(data, out); err != nil || n != len(out) {
			return nil, errors.New("a block of lz4 is damaged: fetch the file again")
		}
	}
	if sum := binary.LittleEndian.Uint32(head[17:]); plain > 0 && sum != xxHash32(out, lz4Seed)&0x0fffffff {
		return nil, errors.New("a block of lz4 has another checksum than it should: fetch the file again")
	}
	return out, nil
}

// lz4Seed is that of the checksums of net.jpountz.lz4.
const lz4Seed = 0x9747b28c

// xxHash32 is XXH32 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md).
func xxHash32(data []byte, seed uint32) uint32 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	rest, sum := data, seed+p5
	if len(data) >= 16 {
		lanes := [4]uint32{seed, seed, seed, seed}
		for i, add := range [4]uint32{(p1 + p2) & math.MaxUint32, p2, 0, -p1 & math.MaxUint32} {
			lanes[i] += add
		}
		for ; len(rest) >= 16; rest = rest[16:] {
			for i := range lanes {
				lanes[i] = bits.RotateLeft32(lanes[i]+binary.LittleEndian.Uint32(rest[4*i:])*p2, 13) * p1
			}
		}
		sum = bits.RotateLeft32(lanes[0], 1) + bits.RotateLeft32(lanes[1], 7) + bits.RotateLeft32(lanes[2], 12) +
			bits.RotateLeft32(lanes[3], 18)
	}
	sum += uint32(len(data))
	for ; len(rest) >= 4; rest = rest[4:] {
		sum = bits.RotateLeft32(sum+binary.LittleEndian.Uint32(rest)*p3, 17) * p4
	}
	for _, b := range rest {
		sum = bits.RotateLeft32(sum+uint32(b)*p5, 11) * p1
	}
	sum = (sum ^ sum>>15) * p2
	sum = (sum ^ sum>>13) * p3
	return sum ^ sum>>16
}

// snappyBlock reads a block: its length, and as much.
func snappyBlock(in *bufio.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	packed := binary.BigEndian.Uint32(head[:])
	damaged := errors.New("a block of snappy is damaged: fetch the file again")
	if packed > maxFramed {
		return nil, damaged
	}
	data, err := block(in, packed)
	if err != nil {
		return nil, err
	}
	if n, err := snappy.DecodedLen(data); err != nil || n > maxFramed {
		return nil, damaged
	}
	out, err := snappy.Decode(nil, data)
	if err != nil {
		return nil, damaged
	}
	return out, nil
}

// block reads so many bytes of a block.
func block(in io.Reader, n uint32) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, int64(n)))
	if err == nil && len(data) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}
