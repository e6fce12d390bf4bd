package redis

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxUnpacked bounds what unpackJSON gives, in bytes.
const maxUnpacked = 64 << 20

// packed is the first byte of what is compressed. JSON begins with none such.
const packed = 0x01

// worth is the size from which on compression is tried: below, it costs more than it saves.
const worth = 1 << 10

var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// packJSON gives JSON in a shorter form, or as it is where that is not shorter.
func packJSON(json []byte) ([]byte, error) {
	if len(json) < worth {
		return json, nil
	}
	var out bytes.Buffer
	out.WriteByte(packed)
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	if _, err := w.Write(json); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if out.Len() >= len(json) {
		return json, nil
	}
	return out.Bytes(), nil
}

// unpackJSON gives back what packJSON was given.
func unpackJSON(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packed {
		return stored, nil
	}
	r := flate.NewReader(bytes.NewReader(stored[1:]))
	json, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(json) > maxUnpacked {
		return nil, errors.New("decompress: more than 64 MiB came out")
	}
	return json, nil
}
