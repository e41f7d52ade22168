package workload

import (
	"fmt"
	"io"
)

// ReadSpark reads a log of one part from a stream, as ReadSparkFile does from its file.
func ReadSpark(r io.Reader, name string) (*Spark, error) {
	l := newSparkLog()
	if err := l.read(r, true); err != nil {
		return nil, fmt.Errorf("read Spark event log %q: %w", name, err)
	}
	return l.spark(name)
}
