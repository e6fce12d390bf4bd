package app

import (
	"context"
	"sync"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge/parse/ocr"
)

// Recognizer reads the text in pictures by tesseract, which is looked for when the first picture
// comes. It implements parse.Recognizer.
type Recognizer struct {
	options ocr.Options

	mu     sync.Mutex
	reader *ocr.Reader // nil: not looked for, or not found
}

// NewRecognizer makes a recognizer.
func NewRecognizer(configured config.OCR) *Recognizer {
	return &Recognizer{options: ocr.Options{Program: configured.Tesseract, Languages: configured.Languages}}
}

// Find looks for tesseract, and gives the languages that it reads: "eng+deu". Without tesseract the
// error is ocr.ErrNotInstalled.
func (r *Recognizer) Find(ctx context.Context) (languages string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader == nil {
		found, err := ocr.New(ctx, r.options)
		if err != nil {
			return "", err
		}
		r.reader = found
	}
	return r.reader.Languages(), nil
}

// Recognize implements parse.Recognizer.
func (r *Recognizer) Recognize(ctx context.Context, picture []byte) (string, error) {
	if _, err := r.Find(ctx); err != nil {
		return "", err
	}
	return r.reader.Recognize(ctx, picture)
}
