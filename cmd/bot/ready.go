package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

type readyCommand struct{}

const (
	readyTime = 5 * time.Second
	readyBody = 4096 // bytes of the reply that are shown
)

// Run asks the `cairn serve` of the same configuration whether it is ready, for health
// checks where nothing else can ask. The exit code is 1 where it is not.
func (c *readyCommand) Run(ctx context.Context, in *invocation) error {
	configured, err := in.configuration()
	if err != nil {
		return err
	}
	address, err := nearby(configured.Telemetry.Listen)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask whether it is ready: %w", err)
	}
	response, err := (&http.Client{Timeout: readyTime}).Do(request)
	if err != nil {
		return fmt.Errorf("ask whether it is ready: %w: is `cairn serve` running with telemetry.listen %s?", err, configured.Telemetry.Listen)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, readyBody))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("ask whether it is ready: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it is not ready: %s", oneLine(string(body)))
	}
	_, err = in.std.Out.Write(body)
	return err
}

// nearby is where a process of this machine is reached that listens at an address.
func nearby(listen string) (string, error) {
	if listen == "" {
		return "", errors.New("set telemetry.listen, for `cairn serve` and for this: there is nobody to ask")
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("telemetry.listen: %w", err)
	}
	if port == "0" {
		return "", errors.New("set telemetry.listen to a port of its own: at port 0 `cairn serve` can't be found")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), nil
}
