package expiring

import (
	"fmt"
	"testing"
	"time"
)

func TestMap(t *testing.T) {
	now := time.Unix(1000, 0)
	m := New[int](3, time.Minute, func() time.Time { return now })
	for i := range 4 {
		m.Put(fmt.Sprint(i), i)
	}
	if _, ok := m.Get("0"); ok {
		t.Error("the oldest key is there past the bound")
	}
	for i := 1; i < 4; i++ {
		if got, ok := m.Get(fmt.Sprint(i)); !ok || got != i {
			t.Errorf("%d: got %d, %v", i, got, ok)
		}
	}
	now = now.Add(30 * time.Second)
	m.Put("2", 22)
	now = now.Add(31 * time.Second)
	if _, ok := m.Get("1"); ok {
		t.Error("a value is there past its time")
	}
	if got, ok := m.Get("2"); !ok || got != 22 {
		t.Errorf("a value that was put again: %d, %v", got, ok)
	}
	m.Clear()
	if _, ok := m.Get("2"); ok {
		t.Error("a value is there after Clear")
	}
}
