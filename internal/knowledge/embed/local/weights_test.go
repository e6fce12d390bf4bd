package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// fileHash is the SHA-256 of what make writes from version 0.2.0 of the npm package.
const fileHash = "ebc4bf9356fb577b82f6577b2f1c9214beb1fc12d61fdb3ab4338df986b87f01"

func TestEmbeddedFileIsWhatMakeWrites(t *testing.T) {
	if sum := sha256.Sum256(embedded); hex.EncodeToString(sum[:]) != fileHash {
		t.Errorf("SHA-256 of %s is %x, want %s", File, sum, fileHash)
	}
	model, err := LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(model)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, embedded) {
		t.Error("the decoded file does not encode to itself")
	}
}

func TestLayersAreValid(t *testing.T) {
	model, err := LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range model.Layers {
		for what, err := range map[string]error{
			"projection":       l.Projection.Validate(),
			"attention output": l.AttentionOutput.Validate(),
			"expand":           l.Expand.Validate(),
			"contract":         l.Contract.Validate(),
		} {
			if err != nil {
				t.Errorf("%s of layer %d: %v", what, i, err)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	damaged := bytes.Clone(embedded)
	// The score of the first piece becomes no number.
	copy(damaged[len(magic):], "\xff\xff\xff\xff\xff\xff\xff\xff")
	for what, data := range map[string][]byte{
		"nothing":       nil,
		"another file":  []byte("something else"),
		"a short file":  embedded[:len(embedded)-1],
		"a long file":   append(bytes.Clone(embedded), 0),
		"a broken file": damaged,
	} {
		if _, err := Decode(data); err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	model, err := LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	model.Frequencies = model.Frequencies[1:]
	if _, err := Encode(model); err == nil {
		t.Error("a model with a frequency missing was accepted")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte(magic))
	f.Add(embedded[:200])
	f.Fuzz(func(t *testing.T, data []byte) {
		// Anything shorter than the whole is damaged, whatever is in it.
		if _, err := Decode(data); err == nil && len(data) < Vocabulary*EmbeddingWidth {
			t.Fatalf("%d bytes were accepted as a model", len(data))
		}
	})
}
