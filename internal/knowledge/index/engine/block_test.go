package engine

import (
	"errors"
	"slices"
	"testing"
)

func TestBlocksComeBackAsStored(t *testing.T) {
	want := block{{class: 1, length: 12.5}, {}, {class: 1 << 30, length: 3}}
	got, err := decodeBlock(append(slices.Clone(want), passageInfo{}, passageInfo{}).encode())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
	for _, size := range []int{1, infoBytes*blockSize + infoBytes} {
		if _, err := decodeBlock(make([]byte, size)); !errors.Is(err, ErrDamaged) {
			t.Errorf("a block of %d bytes: %v", size, err)
		}
	}
}

// TestBlocksTakeNoMoreThanTheirRoom keeps three of ten blocks: those used last.
func TestBlocksTakeNoMoreThanTheirRoom(t *testing.T) {
	cache := blockCache{limit: 3 * infoBytes * 100}
	full := make(block, 100)
	for number := range int32(10) {
		cache.put(number, 1, full)
		cache.get(0, 1)
		if cache.bytes > cache.limit {
			t.Fatalf("%d bytes, %d are the limit", cache.bytes, cache.limit)
		}
	}
	for number := range int32(10) {
		if _, ok := cache.get(number, 1); ok != slices.Contains([]int32{0, 8, 9}, number) {
			t.Errorf("block %d is kept: %v", number, ok)
		}
	}
	if _, ok := cache.get(0, 2); ok {
		t.Error("a block of another generation is given")
	}
	cache.put(0, 2, full[:50])
	if _, ok := cache.get(0, 2); !ok || cache.bytes != infoBytes*250 {
		t.Errorf("%d bytes after a block shrank (kept: %v)", cache.bytes, ok)
	}
	cache.put(5, 1, make(block, 400))
	if len(cache.kept) != 0 && cache.bytes > cache.limit {
		t.Errorf("%d bytes after a block that is too large", cache.bytes)
	}
}

func TestGapsOfGroupsAreSeen(t *testing.T) {
	used, free := passageInfo{class: 1}, passageInfo{}
	full := block(slices.Repeat([]passageInfo{used}, blockSize))
	for name, test := range map[string]struct {
		blocks [groupBlocks]block
		want   bool
	}{
		"nothing":            {[groupBlocks]block{}, false},
		"a beginning":        {[groupBlocks]block{{used, used}}, true},
		"all":                {[groupBlocks]block{full, full, full, full}, true},
		"a gap":              {[groupBlocks]block{{used, free, used}}, false},
		"free at the start":  {[groupBlocks]block{{free, used}}, false},
		"free in the middle": {[groupBlocks]block{full, {used}, {used}}, false},
		"a block is free":    {[groupBlocks]block{full, nil, {used}}, false},
	} {
		if got := (&passageGroup{blocks: test.blocks}).hasNoGap(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
