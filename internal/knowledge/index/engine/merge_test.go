package engine

import "testing"

// TestMergesWriteEachPostingFewTimes adds segments of a size and merges when it is due.
func TestMergesWriteEachPostingFewTimes(t *testing.T) {
	const writes, size = 4000, 150 << 10
	var segments []segment
	var rewritten int64
	for range writes {
		segments = append(segments, segment{bytes: size})
		for parts := dueMerges(segments); len(parts) > 0; parts = dueMerges(segments) {
			var merged segment
			for _, part := range parts {
				merged.bytes += part.bytes
			}
			rewritten += merged.bytes
			segments = append(segments[:len(segments)-len(parts)], merged)
		}
	}
	levels := segment{bytes: writes * size}.sizeLevel() // that such a segment can come to
	if times := float64(rewritten) / (writes * size); times < 2 || times > float64(levels) {
		t.Errorf("a posting is written again %.1f times, want at most %d", times, levels)
	}
	if len(segments) >= levels*mergeFactor {
		t.Errorf("%d segments are left", len(segments))
	}
	var sum int64
	for i, s := range segments {
		sum += s.bytes
		if i > 0 && s.sizeLevel() > segments[i-1].sizeLevel() {
			t.Errorf("segment %d of level %d follows one of level %d", i, s.sizeLevel(), segments[i-1].sizeLevel())
		}
	}
	if sum != writes*size {
		t.Errorf("%d bytes are left of %d", sum, writes*size)
	}
}
