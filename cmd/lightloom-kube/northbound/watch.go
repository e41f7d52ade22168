package northbound

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Watch calls changed whenever slices may have changed, until ctx ends: also after each time that it could not know.
func (c *Client) Watch(ctx context.Context, changed func()) {
	for i := 0; ctx.Err() == nil; i++ {
		_ = c.follow(ctx, c.bases[i%len(c.bases)], changed) // what is wrong shows in the calls that follow
		changed()
		select {
		case <-ctx.Done():
		case <-time.After(10 * pause):
		}
	}
}

// follow reads one stream until it ends. Its frames are those of the Connect protocol: a byte of flags and four of the
// length, then a message.
func (c *Client) follow(ctx context.Context, base string, changed func()) error {
	frame := append(make([]byte, 5), "{}"...)
	binary.BigEndian.PutUint32(frame[1:], 2)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+service+"WatchSlices", bytes.NewReader(frame))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/connect+json")
	r.Header.Set("Connect-Protocol-Version", "1")
	through, _ := c.current() // what is wrong with keys shows in the calls that follow
	resp, err := through.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	for {
		last, err := readFrame(resp.Body)
		if err != nil || last {
			return err
		}
		changed()
	}
}

const endOfStream = 0x02

// readFrame reads past a frame, and reports whether it is the last one. Its text is not needed: that something changed
// is all that is told.
func readFrame(from io.Reader) (last bool, err error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return false, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > most {
		return false, fmt.Errorf("a frame of %d bytes, at most %d are taken", size, most)
	}
	if _, err := io.CopyN(io.Discard, from, int64(size)); err != nil {
		return false, err
	}
	return head[0]&endOfStream != 0, nil
}
