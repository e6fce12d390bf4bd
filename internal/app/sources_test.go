package app

import (
	"testing"

	"cairn/internal/config"
	"cairn/internal/knowledge/parse"
)

func TestDocumentsMayBeAsLargeAsTheirSourceAllows(t *testing.T) {
	for allowed, want := range map[int64]int64{0: parse.DefaultBytes, 32 << 20: parse.DefaultBytes, 1 << 30: 1 << 30} {
		if got := documentLimits(config.Source{MaxDocumentBytes: allowed}).Bytes; got != want {
			t.Errorf("max_document_bytes %d: the parsers read %d bytes, want %d", allowed, got, want)
		}
	}
}
