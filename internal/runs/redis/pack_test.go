package redis

import (
	"bytes"
	"strings"
	"testing"
)

func TestPackMakesJSONSmall(t *testing.T) {
	json := []byte(`{"turns":[` + strings.Repeat(`{"role":"person","text":"how do I roll back?"},`, 50) + `{}]}`)
	packed, err := packJSON(json)
	if err != nil || len(packed) > len(json)/5 {
		t.Fatalf("%d bytes became %d, %v", len(json), len(packed), err)
	}
	if got, err := unpackJSON(packed); err != nil || !bytes.Equal(got, json) {
		t.Errorf("they came back as %d bytes, %v", len(got), err)
	}
	if small, err := packJSON([]byte(`{}`)); err != nil || string(small) != "{}" {
		t.Errorf("what is small became %q, %v", small, err)
	}
	if _, err := unpackJSON([]byte("\x01\xff\xff")); err == nil {
		t.Error("what is damaged was read")
	}
}

func FuzzUnpack(f *testing.F) {
	packed, err := packJSON([]byte(`{"text":"` + strings.Repeat("x", 1000) + `"}`))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{packed, nil, []byte("{}"), {1}, {1, 0xff}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		json, err := unpackJSON(stored)
		if err != nil {
			return
		}
		if len(json) > maxUnpacked {
			t.Errorf("%d bytes came out", len(json))
		}
	})
}
