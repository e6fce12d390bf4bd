package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"
)

// freeRatio is how much a stream may unpack to whatever its ratio, in bytes.
const freeRatio = 1 << 20

// maxFilters bounds how many times a stream may be packed.
const maxFilters = 8

// decodeStream unpacks a stream. What could be unpacked of a damaged one comes with the error.
func (f *file) decodeStream(o object) ([]byte, error) {
	filters := f.listOf(o.dict["Filter"])
	parameters := f.listOf(o.dict["DecodeParms"])
	data := o.stream
	limit := min(f.limits.Bytes, freeRatio+int64(len(data))*f.limits.Ratio)
	if len(filters) > maxFilters {
		return nil, fmt.Errorf("%d filters", len(filters))
	}
	for i, filter := range filters {
		var parameter map[string]object
		if i < len(parameters) {
			parameter = f.dictOf(parameters[i])
		}
		var err error
		data, err = f.applyFilter(f.nameOf(f.resolveReference(filter)), data, parameter, limit)
		if err != nil && (len(data) == 0 || isLimit(err)) {
			return nil, err
		}
	}
	return data, nil
}

func isLimit(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit)
}

// listOf returns the elements of an array, or the object itself as the only one.
func (f *file) listOf(o object) []object {
	o = f.resolveReference(o)
	switch o.kind {
	case array:
		return o.items
	case null:
		return nil
	}
	return []object{o}
}

func (f *file) applyFilter(filter string, data []byte, parameter map[string]object, limit int64) ([]byte, error) {
	switch filter {
	case "FlateDecode", "Fl":
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		return f.undoPredictor(r, parameter, limit)
	case "LZWDecode", "LZW":
		early := f.resolveReference(parameter["EarlyChange"])
		return f.undoPredictor(newLZW(data, early.kind != number || early.number != 0), parameter, limit)
	case "ASCII85Decode", "A85":
		if stop := bytes.Index(data, []byte("~>")); stop >= 0 {
			data = data[:stop]
		}
		return readLimited(ascii85.NewDecoder(bytes.NewReader(data)), limit)
	case "ASCIIHexDecode", "AHx":
		l := &lexer{data: data}
		return []byte(l.readHex()), nil
	case "RunLengthDecode", "RL":
		return runLength(data, limit)
	}
	return nil, fmt.Errorf("filter %q is not read", filter)
}

func readLimited(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return nil, &LimitError{What: "bytes when unpacked", Limit: limit}
	}
	return data, err
}

// undoPredictor unpacks and takes the differences back that a predictor made.
func (f *file) undoPredictor(r io.Reader, parameter map[string]object, limit int64) ([]byte, error) {
	data, err := readLimited(r, limit)
	predictor := f.resolveReference(parameter["Predictor"]).toInt()
	if predictor < 2 || isLimit(err) {
		return data, err
	}
	number := func(key string, otherwise int) int {
		if value := f.resolveReference(parameter[key]).toInt(); value > 0 {
			return value
		}
		return otherwise
	}
	pixel := (number("Colors", 1)*number("BitsPerComponent", 8) + 7) / 8
	row := (number("Columns", 1)*number("Colors", 1)*number("BitsPerComponent", 8) + 7) / 8
	if row > len(data) || row <= 0 || pixel > row || pixel <= 0 {
		return nil, fmt.Errorf("rows of %d bytes", row)
	}
	if predictor == 2 {
		for start := 0; start+row <= len(data); start += row {
			for i := start + pixel; i < start+row; i++ {
				data[i] += data[i-pixel]
			}
		}
		return data, err
	}
	return reversePNG(data, row, pixel), err
}

// reversePNG takes the filters of PNG off rows that each begin with the filter's number.
func reversePNG(data []byte, row, pixel int) []byte {
	out := make([]byte, 0, len(data))
	above := make([]byte, row)
	for len(data) > 1 {
		line := data[1:min(len(data), row+1)]
		for i := range line {
			var left, corner byte
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			switch data[0] {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		out = append(out, line...)
		copy(above, line)
		data = data[1+len(line):]
	}
	return out
}

func paeth(left, above, corner byte) byte {
	guess := int(left) + int(above) - int(corner)
	toLeft, toAbove, toCorner := absDiff(guess, left), absDiff(guess, above), absDiff(guess, corner)
	switch {
	case toLeft <= toAbove && toLeft <= toCorner:
		return left
	case toAbove <= toCorner:
		return above
	}
	return corner
}

func absDiff(a int, b byte) int {
	return max(a-int(b), int(b)-a)
}

func runLength(data []byte, limit int64) ([]byte, error) {
	var out []byte
	for len(data) > 1 && data[0] != 128 {
		length := int(data[0]) + 1
		if data[0] > 128 {
			out = append(out, bytes.Repeat(data[1:2], 257-int(data[0]))...)
			data = data[2:]
		} else {
			length = min(length, len(data)-1)
			out = append(out, data[1:1+length]...)
			data = data[1+length:]
		}
		if int64(len(out)) > limit {
			return nil, &LimitError{What: "bytes when unpacked", Limit: limit}
		}
	}
	return out, nil
}
