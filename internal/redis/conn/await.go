package conn

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"
)

const (
	// awaitLimit is how long one server may take to answer a probe.
	awaitLimit = 3 * time.Second
	// retryPause is the wait between two attempts of retryTransient.
	retryPause = 100 * time.Millisecond
	// maxGreeting bounds what is read of an answer, in bytes.
	maxGreeting = 512
)

// errLoading is the error of a server that is starting.
var errLoading = errors.New("it is still reading its data: try again in a moment")

// awaitServer waits until a server at one of the addresses answers in Redis's protocol. It runs
// before the client, which would retry for longer and explain less.
func (t target) awaitServer(ctx context.Context, encryption *tls.Config) error {
	var errs []error
	for _, address := range t.addresses {
		err := t.probeAddress(ctx, address, encryption)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (t target) probeAddress(ctx context.Context, address string, encryption *tls.Config) (err error) {
	ctx, cancel := context.WithTimeout(ctx, awaitLimit)
	defer cancel()
	plain, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer plain.Close()                                      //nolint:errcheck // nothing is lost with it
	defer context.AfterFunc(ctx, func() { plain.Close() })() //nolint:errcheck // so nothing blocks for longer than ctx lasts
	connection := plain
	if encryption != nil {
		if connection, err = startTLS(ctx, plain, address, encryption); err != nil {
			return err
		}
	}
	greeting, err := readGreeting(connection)
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("the server at %s does not answer like Redis: correct the host and the port (%w)", address, ctx.Err())
	case err != nil && encryption != nil: // with TLS 1.3 it does so after the handshake
		return fmt.Errorf("the server at %s ends encrypted connections at once: if it wants certificates of its clients, set tls-auth-clients no, and give it a password (%w)", address, err)
	case err != nil:
		return fmt.Errorf("the server at %s ends connections at once: if it takes TLS alone, write the address with rediss (%w)", address, err)
	case strings.HasPrefix(greeting, "-LOADING"):
		return errLoading
	case strings.HasPrefix(greeting, "-ERR max number"), strings.HasPrefix(greeting, "-DENIED"):
		return fmt.Errorf("%s (%s)", remedyOf(greeting[1:]), greeting[1:])
	case !strings.HasPrefix(greeting, "+") && !strings.HasPrefix(greeting, "-"):
		return fmt.Errorf("the server at %s is not Redis: correct the host and the port", address)
	}
	return nil
}

// startTLS begins TLS on a connection.
func startTLS(ctx context.Context, plain net.Conn, address string, settings *tls.Config) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	settings = settings.Clone()
	settings.ServerName = host
	connection := tls.Client(plain, settings)
	if err := connection.HandshakeContext(ctx); err != nil {
		_, ok := errors.AsType[tls.RecordHeaderError](err)
		if ok || ctx.Err() != nil { // a Redis without TLS waits for the end of a line
			return nil, fmt.Errorf("the server at %s speaks no TLS on this port: give its tls-port, or write the address with redis instead of rediss (%w)", address, err)
		}
		return nil, err
	}
	return connection, nil
}

// readGreeting returns the first line of what a server answers.
func readGreeting(connection net.Conn) (string, error) {
	if _, err := connection.Write([]byte("PING\r\n")); err != nil {
		return "", err
	}
	line, err := bufio.NewReaderSize(connection, maxGreeting).ReadSlice('\n')
	if len(line) > 0 && errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return strings.TrimSpace(string(line)), err
}

// retryTransient repeats an attempt while it fails with what may pass by itself in a moment,
// until ctx ends. The error is the last one that tells something.
func retryTransient(ctx context.Context, attempt func(context.Context) error) error {
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := attempt(ctx)
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if err != nil && !isTransient(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(retryPause)), backoff.WithMaxElapsedTime(0))
	if err == nil {
		return nil
	}
	return last
}

// isTransient reports whether an error is one of a server that is starting, or of a failover.
func isTransient(err error) bool {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return name.IsTemporary
	}
	if refusal, ok := errors.AsType[redis.Error](err); ok {
		for _, prefix := range []string{"LOADING", "CLUSTERDOWN", "MASTERDOWN"} {
			if strings.HasPrefix(refusal.Error(), prefix) {
				return true
			}
		}
	}
	return errors.Is(err, errLoading) || isDial(err)
}
