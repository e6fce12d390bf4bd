package operations

import (
	"net/netip"
	"sync"
	"time"
)

// Bounds on failed sign-ins: so many from one address, and so many in all, within a window.
const (
	failureWindow   = 10 * time.Minute
	failuresOfOne   = 10
	failuresOfAll   = 500
	failuresTracked = 4096 // addresses
)

// failures counts sign-ins that failed, so that a token can't be guessed by trying.
type failures struct {
	now func() time.Time

	mu     sync.Mutex
	began  time.Time // of the window
	all    int
	counts map[string]int // by address
}

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, counts: make(map[string]int)}
}

// allows tells whether another try may be made from an address.
func (f *failures) allows(address string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn()
	return f.all < failuresOfAll && f.counts[network(address)] < failuresOfOne
}

// add counts a try that failed.
func (f *failures) add(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn()
	f.all++
	if at := network(address); len(f.counts) < failuresTracked || f.counts[at] > 0 {
		f.counts[at]++
	}
}

// turn begins a new window when the last one is over.
func (f *failures) turn() {
	if now := f.now(); now.Sub(f.began) >= failureWindow {
		f.began, f.all = now, 0
		clear(f.counts)
	}
}

// network is what an address is counted as: an IPv6 one as its /64, all of which one person
// has.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}
