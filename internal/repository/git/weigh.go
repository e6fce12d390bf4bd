package git

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxObjects is how many objects a commit may be made of.
const maxObjects = 1 << 20

// checkUnpackedSize adds up how large the objects of a pack become when they are unpacked, before
// anything does so: a few bytes can stand for gigabytes.
func checkUnpackedSize(pack io.Reader, limit int64) error {
	scanner := packfile.NewScanner(pack)
	_, count, err := scanner.Header()
	if err != nil {
		return fmt.Errorf("read what was received: %w", err)
	}
	if count > maxObjects {
		return fmt.Errorf("%w: its commit has more than %d objects", ErrTooLarge, maxObjects)
	}
	var sum int64
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return fmt.Errorf("read what was received: %w", err)
		}
		size := header.Length
		if size < 0 || size > limit {
			return fmt.Errorf("%w: one of its objects has more than %d bytes", ErrTooLarge, limit)
		}
		begin := &deltaHeader{}
		if _, _, err := scanner.NextObject(begin); err != nil {
			return fmt.Errorf("read what was received: %w", err)
		}
		if header.Type == plumbing.OFSDeltaObject || header.Type == plumbing.REFDeltaObject {
			if size, err = begin.resultSize(); err != nil {
				return err
			}
		}
		if sum += size; size > limit || sum > limit {
			return fmt.Errorf("%w: its files have more than %d bytes", ErrTooLarge, limit)
		}
	}
	return nil
}

// deltaHeader keeps the first bytes of what is written to it.
type deltaHeader struct {
	kept   [20]byte // two numbers of at most 10 bytes each
	length int
}

func (b *deltaHeader) Write(p []byte) (int, error) {
	b.length += copy(b.kept[b.length:], p)
	return len(p), nil
}

// resultSize returns the size of what a delta gives. A delta begins with the size of what it is
// applied to and that of the result, 7 bits a byte, the lowest first.
func (b *deltaHeader) resultSize() (int64, error) {
	rest := b.kept[:b.length]
	var size uint64
	for range 2 {
		size = 0
		for shift := 0; ; shift += 7 {
			if len(rest) == 0 || shift > 56 {
				return 0, errors.New("read what was received: a delta without its sizes")
			}
			size |= uint64(rest[0]&0x7f) << shift
			more := rest[0]&0x80 != 0
			rest = rest[1:]
			if !more {
				break
			}
		}
	}
	return int64(size), nil
}
