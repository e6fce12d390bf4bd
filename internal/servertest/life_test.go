package servertest

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// victim runs a script as the child of a process that is about to be killed with all of
// its group.
func victim(t *testing.T, arguments ...string) (output *bufio.Reader, kill func()) {
	t.Helper()
	script, err := FindScript("test-servers.sh")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("bash", append([]string{"-c", `cat | "$0" "$@"`, script}, arguments...)...) //nolint:noctx // kill ends it
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := command.StdinPipe() // it outlives this process no more than the others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close() })
	pipe, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(pipe), func() {
		if err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err == nil {
			t.Error("who was killed ended well")
		}
	}
}

// answers reports whether something listens at an address.
func answers(ctx context.Context, address string) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

func awaitEnd(t *testing.T, address string) {
	t.Helper()
	err := retryUntil(t.Context(), func(ctx context.Context) error {
		if answers(ctx, address) == nil {
			return errors.New("it still answers")
		}
		return nil
	})
	if err != nil {
		t.Errorf("server at %s: %v", address, err)
	}
}

// TestSharedServersGoWithTheirUsers has two users of the same servers, and kills one after
// the other as `kill -9` does.
func TestSharedServersGoWithTheirUsers(t *testing.T) {
	t.Setenv("CAIRN_TEST_REDIS_URL", "")
	t.Setenv("CAIRN_TEST_POSTGRES_URL", "")
	dir := openFolder(t)
	var kills []func()
	var addresses []string
	for range 2 {
		output, kill := victim(t, "use", dir)
		kills = append(kills, kill)
		addresses = nil
		for range 2 {
			line, err := output.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			_, quoted, _ := strings.Cut(strings.TrimSpace(line), "=")
			address, err := url.Parse(strings.Trim(quoted, "'"))
			if err != nil {
				t.Fatal(err)
			}
			addresses = append(addresses, address.Host)
		}
	}
	kills[0]()
	for _, address := range addresses {
		if err := answers(t.Context(), address); err != nil {
			t.Errorf("the other user's server is gone: %v", err)
		}
	}
	kills[1]()
	for _, address := range addresses {
		awaitEnd(t, address)
	}
}

func TestAnOwnServerGoesWithItsUser(t *testing.T) {
	port := FreePort(t)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	_, kill := victim(t, "redis", strconv.Itoa(port), filepath.Join(openFolder(t), "data"))
	if err := retryUntil(t.Context(), func(ctx context.Context) error { return answers(ctx, address) }); err != nil {
		t.Fatal(err)
	}
	kill()
	awaitEnd(t, address)
}
