package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRunRefusesAnotherPackage(t *testing.T) {
	folder := t.TempDir()
	archive, file := filepath.Join(folder, "other.tgz"), filepath.Join(folder, "out")
	if err := os.WriteFile(archive, []byte("another package"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(archive, file); err == nil || !strings.Contains(err.Error(), packageHash) {
		t.Errorf("run: %v, want an error that names the hash", err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a file was written: %v", err)
	}
}

func TestReadVocabulary(t *testing.T) {
	pieces, err := readVocabulary([]byte(`[["a", -1.5], [":", null]]`))
	if err != nil {
		t.Fatal(err)
	}
	if len(pieces) != 2 || pieces[0].Text != "a" || pieces[0].Score != -1.5 || pieces[1].Score != 0 {
		t.Errorf("pieces %v, want a with -1.5 and : with 0", pieces)
	}
}

func TestReadTensors(t *testing.T) {
	files := map[string][]byte{
		"package/dist/model.json": []byte(`{"weightsManifest": [{"paths": ["one", "two"], "weights": [
			{"name": "n", "shape": [], "dtype": "int32"},
			{"name": "m", "shape": [1, 2], "dtype": "float32"}]}]}`),
		"package/dist/one": {1, 0, 0, 0, 0, 0},
		"package/dist/two": {0x80, 0x3f, 0, 0, 0, 0x40},
	}
	tensors, err := readTensors(files)
	if err != nil {
		t.Fatal(err)
	}
	if got := tensors["m"].values; len(tensors) != 1 || !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("m is %v, want 1 2", got)
	}
	for what, two := range map[string][]byte{"short": {0x80}, "long": make([]byte, 7)} {
		files["package/dist/two"] = two
		if _, err := readTensors(files); err == nil {
			t.Errorf("%s shards were accepted", what)
		}
	}
}
