// Package listen opens the ports that Cairn serves at, and tells requests for this machine from
// those that a foreign site sends by a name of its own, which it made to mean this machine (DNS
// rebinding).
package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
)

// Error tells that nothing can be served at an address.
type Error struct {
	Address string // as it was asked for, "host:port"
	Cause   error  // without the address
}

func (e *Error) Error() string { return fmt.Sprintf("listen at %s: %v", e.Address, e.Cause) }
func (e *Error) Unwrap() error { return e.Cause }

// TCP listens at an address, "host:port". It fails with an *Error.
func TCP(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &Error{address, bareCause(err)}
	}
	return listener, nil
}

// bareCause leaves out what errors of the network say of the address and of the system's calls.
func bareCause(err error) error {
	if failed := (*net.OpError)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	if failed := (*os.SyscallError)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	if failed := (*net.AddrError)(nil); errors.As(err, &failed) {
		err = errors.New(failed.Err)
	}
	return err
}

// WithRemedy adds to an *Error what to do about it, where err is or wraps one: setting names what
// the address is set by.
func WithRemedy(err error, setting string) error {
	if failed := (*Error)(nil); errors.As(err, &failed) {
		return fmt.Errorf("%w: stop the program that uses it, or choose another address with %s", err, setting)
	}
	return err
}
