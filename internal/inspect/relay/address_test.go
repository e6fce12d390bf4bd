package relay

import (
	"context"
	"net"
	"strings"
	"testing"
)

// TestPrivateAddresses has a relay's name lead to this machine.
func TestPrivateAddresses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for relay, allowed := range map[string]bool{
		"https://relay.example": false, "http://10.0.0.1": false, "http://127.0.0.1:99": true, "http://localhost": true,
	} {
		list, err := parseAllowList([]string{relay})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := list.dial(context.WithoutCancel(t.Context()), "tcp", listener.Addr().String())
		if (err == nil) != allowed || !allowed && !strings.Contains(err.Error(), "list it in inspect.relays by its IP address") {
			t.Errorf("%s: %v", relay, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
