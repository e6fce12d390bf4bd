package git_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cairn-bot/cairn/internal/repository/git"
)

// newKey makes a key, and writes its private half to a file.
func newKey(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, file
}

// serveSSH serves the repository over SSH by git's own upload-pack, to one deploy key.
func serveSSH(t *testing.T, folder string, host ssh.Signer, deploy ssh.PublicKey) net.Addr {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(deploy.Marshal()) {
			return nil, errors.New("another key")
		}
		return &ssh.Permissions{}, nil
	}}
	config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serveConnection(connection, config, folder)
		}
	}()
	return listener.Addr()
}

func serveConnection(connection net.Conn, config *ssh.ServerConfig, folder string) {
	defer connection.Close()
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for request := range requests {
			known := request.Type == "exec" && strings.Contains(string(request.Payload), "git-upload-pack '/team/app.git'")
			if err := request.Reply(known, nil); err != nil {
				return
			}
			if known && serveCommand(channel, folder) != nil {
				return
			}
		}
	}
}

// serveCommand runs upload-pack for a client, and tells how it ended.
func serveCommand(channel ssh.Channel, folder string) error {
	command := exec.Command("git", "upload-pack", folder)
	command.Stdout, command.Stderr = channel, channel.Stderr()
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(input, channel)
		sent <- errors.Join(err, input.Close())
	}()
	var status struct{ Status uint32 }
	if command.Wait() != nil {
		status.Status = 1
	}
	_, err = channel.SendRequest("exit-status", false, ssh.Marshal(status))
	return errors.Join(err, channel.Close(), ignoreClosed(<-sent))
}

// ignoreClosed lets a client end while the program has ended already.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func TestAMirrorOverSSH(t *testing.T) {
	m := newMirrored(t)
	host, _ := newKey(t)
	deploy, keyFile := newKey(t)
	address := serveSSH(t, m.origin, host, deploy.PublicKey())
	known := filepath.Join(t.TempDir(), "known_hosts")
	writeKnown := func(key ssh.PublicKey) {
		t.Helper()
		line := knownhosts.Line([]string{knownhosts.Normalize(address.String())}, key)
		if err := os.WriteFile(known, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeKnown(host.PublicKey())
	m.options.Address, m.options.KeyFile, m.options.KnownHosts = "ssh://git@"+address.String()+"/team/app.git", keyFile, known
	files := map[string]string{"README.md": "# App\n\nnew\n", "a (b)/ü.txt": "x", "cmd/main.go": "package main\n"}
	m.wants(files)
	m.commit(map[string]string{"new.md": "new"})
	files["new.md"] = "new"
	m.wants(files)

	_, other := newKey(t)
	for name, test := range map[string]struct {
		change func(o *git.MirrorOptions)
		want   string
	}{
		"another deploy key":     {func(o *git.MirrorOptions) { o.KeyFile = other }, "unable to authenticate"},
		"no key":                 {func(o *git.MirrorOptions) { o.KeyFile = known }, "private key of key_file"},
		"another host":           {func(o *git.MirrorOptions) { o.Address = strings.Replace(o.Address, "127.0.0.1", "localhost", 1) }, "known_hosts has no key of localhost"},
		"the key of another one": {func(*git.MirrorOptions) { writeKnown(deploy.PublicKey()) }, "key mismatch"},
	} {
		options := m.options
		test.change(&options)
		if _, err := git.NewMirror(options).Update(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		writeKnown(host.PublicKey())
	}
}
