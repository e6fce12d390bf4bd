package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The file is the magic and then the parts in the order of walkModel, without gaps: numbers
// little-endian; a piece as its score in float64, the length of its text in one byte
// and the text; matrices in the order of matrix.Weights.Data.
const magic = "uselite1"

// Decode reads a file of weights. The model refers to the parts of data that are bytes
// already.
func Decode(data []byte) (Model, error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return Model{}, fmt.Errorf("the file does not begin with %q: make it again", magic)
	}
	d := &decoder{rest: data[len(magic):]}
	var m Model
	walkModel(d, &m)
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%d bytes too many", len(d.rest))
	}
	if d.err != nil {
		return Model{}, fmt.Errorf("the file is damaged: %w", d.err)
	}
	return m, nil
}

// decoder keeps the first error; after it every part stays empty.
type decoder struct {
	rest []byte
	err  error
}

var errShort = errors.New("it ends too early")

func (d *decoder) readBytes(n int) []byte {
	if d.err == nil && len(d.rest) < n {
		d.err = errShort
	}
	if d.err != nil {
		return nil
	}
	part := d.rest[:n:n]
	d.rest = d.rest[n:]
	return part
}

func (d *decoder) codeBytes(dst *[]byte, n int) { *dst = d.readBytes(n) }

func (d *decoder) codeFloats(dst *[]float32, n int) {
	part := d.readBytes(4 * n)
	if part == nil {
		return
	}
	*dst = make([]float32, n)
	for i := range *dst {
		v := math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
		if !isFinite(float64(v)) {
			d.err = fmt.Errorf("%g among the numbers", v)
			return
		}
		(*dst)[i] = v
	}
}

func (d *decoder) codePieces(dst *[]Piece, n int) {
	*dst = make([]Piece, n)
	for i := range *dst {
		head := d.readBytes(9)
		if head == nil {
			return
		}
		score := math.Float64frombits(binary.LittleEndian.Uint64(head))
		if !isFinite(score) {
			d.err = fmt.Errorf("piece %d has the score %g", i, score)
			return
		}
		(*dst)[i] = Piece{Text: string(d.readBytes(int(head[8]))), Score: score}
	}
}

// Encode returns the file of a model. It fails if a part does not have its size.
func Encode(m Model) ([]byte, error) {
	e := &encoder{data: []byte(magic)}
	walkModel(e, &m)
	if e.err != nil {
		return nil, fmt.Errorf("write weights: %w", e.err)
	}
	return e.data, nil
}

type encoder struct {
	data []byte
	err  error
}

func (e *encoder) checkLength(what string, got, want int) {
	if e.err == nil && got != want {
		e.err = fmt.Errorf("%d %s, want %d", got, what, want)
	}
}

func (e *encoder) codeBytes(src *[]byte, n int) {
	e.checkLength("bytes", len(*src), n)
	e.data = append(e.data, *src...)
}

func (e *encoder) codeFloats(src *[]float32, n int) {
	e.checkLength("numbers", len(*src), n)
	for _, v := range *src {
		e.data = binary.LittleEndian.AppendUint32(e.data, math.Float32bits(v))
	}
}

func (e *encoder) codePieces(src *[]Piece, n int) {
	e.checkLength("pieces", len(*src), n)
	for i, piece := range *src {
		if len(piece.Text) > math.MaxUint8 && e.err == nil {
			e.err = fmt.Errorf("piece %d has %d bytes, at most %d", i, len(piece.Text), math.MaxUint8)
		}
		e.data = binary.LittleEndian.AppendUint64(e.data, math.Float64bits(piece.Score))
		e.data = append(e.data, byte(len(piece.Text)))
		e.data = append(e.data, piece.Text...)
	}
}
