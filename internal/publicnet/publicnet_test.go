package publicnet_test

import (
	"net/netip"
	"testing"

	"github.com/cairn-bot/cairn/internal/publicnet"
)

func TestIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"140.82.121.3": true, "2606:50c0:8000::153": true, "1.1.1.1": true,
		"127.0.0.1": false, "10.1.2.3": false, "192.168.0.1": false, "172.16.0.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false, "::1": false, "::": false, "fc00::1": false, "fe80::1": false,
		"::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "ff02::1": false, "198.18.0.1": false,
	} {
		if got := publicnet.IsPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("public(%s) = %v", address, got)
		}
	}
	if err := publicnet.RefusePrivate("tcp", "nothing", nil); err == nil {
		t.Error("what is no address may be connected to")
	}
}
