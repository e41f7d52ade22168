package voq

// fifo is a queue of frames with a limit in bytes.
type fifo struct {
	limit, bytes int
	frames       []Frame
	head         int // frames before it have gone
}

// push puts a frame last, or says that there is no room.
func (q *fifo) push(f Frame) bool {
	if q.bytes+f.Bytes() > q.limit {
		return false
	}
	if q.head > len(q.frames)/2 { // half of it is gone: move the rest down, which costs a constant each on average
		n := copy(q.frames, q.frames[q.head:])
		clear(q.frames[n:])
		q.frames, q.head = q.frames[:n], 0
	}
	q.bytes += f.Bytes()
	q.frames = append(q.frames, f)
	return true
}

func (q *fifo) len() int { return len(q.frames) - q.head }

// first returns the frame that is next, if there is one.
func (q *fifo) first() Frame { return q.frames[q.head] }

// pop takes the next frame out.
func (q *fifo) pop() {
	q.bytes -= q.frames[q.head].Bytes()
	q.frames[q.head] = nil
	q.head++
}
