//go:build ignore

// Generate writes the vocabularies of package bpe from those of tiktoken-go.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"log"
	"os"

	"github.com/tiktoken-go/tokenizer/codec"
)

func main() {
	for name, from := range map[string]*codec.Codec{"o200k": codec.NewO200kBase(), "cl100k": codec.NewCl100kBase()} {
		var all []byte
		for rank := uint(0); ; rank++ {
			token, err := from.Decode([]uint{rank})
			if err != nil { // that was the last
				break
			}
			all = binary.AppendUvarint(all, uint64(len(token)))
			all = append(all, token...)
		}
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := w.Write(all); err != nil {
			log.Fatal(err)
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name+".bin", packed.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
