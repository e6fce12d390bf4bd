package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"testing"
)

// packed is an entry of a pack as it is written, with any length that it claims to have.
type packed struct {
	kind   byte // 3 blob, 7 delta by reference
	length int
	data   []byte
}

func pack(t testing.TB, objects ...packed) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("PACK")
	for _, n := range []uint32{2, uint32(len(objects))} {
		out.Write(binary.BigEndian.AppendUint32(nil, n))
	}
	for _, o := range objects {
		first, rest := o.kind<<4|byte(o.length&15), o.length>>4
		for rest > 0 {
			out.WriteByte(first | 0x80)
			first, rest = byte(rest&0x7f), rest>>7
		}
		out.WriteByte(first)
		if o.kind == 7 {
			out.Write(make([]byte, 20))
		}
		w := zlib.NewWriter(&out)
		if _, err := w.Write(o.data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// delta claims to make size bytes of 1.
func delta(size int) packed {
	data := binary.AppendUvarint([]byte{1}, uint64(size))
	data = append(data, 1, 'x')
	return packed{7, len(data), data}
}

func TestWeigh(t *testing.T) {
	small := packed{3, 5, []byte("hello")}
	for name, test := range map[string]struct {
		pack  []byte
		large bool
	}{
		"small":                {pack(t, small, small, delta(10)), false},
		"a large object":       {pack(t, packed{3, 5000, bytes.Repeat([]byte{0}, 5000)}), true},
		"many small ones":      {pack(t, times(small, 300)...), true},
		"a delta of gigabytes": {pack(t, small, delta(8<<30)), true},
	} {
		if err := checkUnpackedSize(bytes.NewReader(test.pack), 1000); errors.Is(err, ErrTooLarge) != test.large || err != nil && !test.large {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func times(o packed, count int) []packed {
	all := make([]packed, count)
	for i := range all {
		all[i] = o
	}
	return all
}

// FuzzWeigh checks that any bytes are weighed or refused.
func FuzzWeigh(f *testing.F) {
	f.Add(pack(f, packed{3, 5, []byte("hello")}, delta(10)))
	f.Add(pack(f, delta(1<<40)))
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := checkUnpackedSize(bytes.NewReader(data), 1000); err == nil && len(data) < 12 {
			t.Errorf("%q is no pack", data)
		}
	})
}
