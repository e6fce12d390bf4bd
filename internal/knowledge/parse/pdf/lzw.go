package pdf

import "io"

// lzw unpacks the LZW of PDF and TIFF, whose codes grow from 9 to 12 bits. The
// standard library's is that of GIF.
type lzw struct {
	data  []byte
	early int // 1 where codes grow one code early

	bits, have uint
	width      uint
	table      [4096]entry
	next       int
	previous   int
	pending    []byte
	done       bool
}

// entry is a string of the table: that of another code, and one byte more.
type entry struct {
	prefix int
	last   byte
	length int
}

const (
	clearCode = 256
	endCode   = 257
)

func newLZW(data []byte, early bool) *lzw {
	l := &lzw{data: data}
	if early {
		l.early = 1
	}
	for i := range clearCode {
		l.table[i] = entry{prefix: -1, last: byte(i), length: 1}
	}
	l.resetTable()
	return l
}

func (l *lzw) resetTable() { l.width, l.next, l.previous = 9, endCode+1, -1 }

func (l *lzw) Read(buffer []byte) (int, error) {
	for len(l.pending) == 0 {
		if l.done {
			return 0, io.EOF
		}
		l.readCode()
	}
	n := copy(buffer, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// readCode reads one code and makes what it stands for pending.
func (l *lzw) readCode() {
	for l.have < l.width {
		if len(l.data) == 0 {
			l.done = true
			return
		}
		l.bits = l.bits<<8 | uint(l.data[0])
		l.have += 8
		l.data = l.data[1:]
	}
	code := int(l.bits >> (l.have - l.width) & (1<<l.width - 1))
	l.have -= l.width
	l.bits &= 1<<l.have - 1
	switch {
	case code == clearCode:
		l.resetTable()
		return
	case code == endCode, code > l.next, code == l.next && l.previous < 0:
		l.done = true
		return
	}
	if l.previous >= 0 && l.next < len(l.table) {
		first := l.previous
		if code < l.next {
			first = code
		}
		l.table[l.next] = entry{prefix: l.previous, last: l.firstByte(first), length: l.table[l.previous].length + 1}
		l.next++
	}
	if code >= l.next {
		l.done = true
		return
	}
	l.pending = l.expandCode(code)
	l.previous = code
	if l.next+l.early >= 1<<l.width && l.width < 12 {
		l.width++
	}
}

func (l *lzw) firstByte(code int) byte {
	for l.table[code].prefix >= 0 {
		code = l.table[code].prefix
	}
	return l.table[code].last
}

func (l *lzw) expandCode(code int) []byte {
	out := make([]byte, l.table[code].length)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = l.table[code].last
		code = l.table[code].prefix
	}
	return out
}
