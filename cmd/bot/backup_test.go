package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// tells waits until a text is in the channel.
func (f *fortress) tells(text string) {
	f.t.Helper()
	if !f.wait(func() bool { return strings.Contains(f.slack.Show(f.general), text) }) {
		f.t.Fatalf("never seen: %s\n%s", text, f.slack.Show(f.general))
	}
}

// goesOn has Ann answer what was asked before the backup: the thread and the run that waits
// in it are there again, and so is the index.
func (f *fortress) goesOn(root string) {
	f.t.Helper()
	f.serve()
	f.ann.Says(f.general, root, "the vendor of phones")
	f.tells("kept for ten years")
	f.ann.Says(f.general, "", mention+"how many days of leave do I have?")
	f.tells("28 days of leave")
	f.process.end(syscall.SIGTERM)
}

// asked has Ann ask what needs an answer, and ends the program.
func (f *fortress) asked() (root string) {
	f.t.Helper()
	root = f.ann.Says(f.general, "", mention+"where do I get a laptop?")
	f.tells(room12)
	f.ann.Says(f.general, root, "how long do we keep invoices of this vendor?")
	f.tells("“this vendor”")
	f.process.end(syscall.SIGTERM)
	return root
}

// TestTheDataDirectoryIsBroughtBack copies the data directory of a program that was ended,
// loses it, and goes on from the copy.
func TestTheDataDirectoryIsBroughtBack(t *testing.T) {
	f := newFortress(t)
	root := f.asked()
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(f.data)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(f.data); err != nil {
		t.Fatal(err)
	}
	if out, err := f.command("status").CombinedOutput(); err == nil {
		t.Fatalf("all is lost, and it says\n%s", out)
	}
	if err := os.CopyFS(f.data, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	f.goesOn(root)
}

// TestRedisIsBroughtBack copies the snapshot of a Redis, or its append-only file, loses the
// server with all that it held, and goes on with another one that begins with the copy.
func TestRedisIsBroughtBack(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"from its snapshot":         {"--dbfilename", "backup.rdb", "--appendonly", "no"},
		"from its append-only file": {"--dbfilename", "none.rdb", "--appendonly", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFortress(t)
			f.process.end(syscall.SIGTERM)
			first := servertest.OwnRedis(t)
			f.env = append(f.env, "CAIRN_REDIS_URL="+first.URL)
			f.serve()
			root := f.asked()
			dir := copied(t, first.URL)
			first.Kill()
			second := servertest.OwnRedis(t, append([]string{"--dir", dir}, settings...)...)
			f.env = append(f.env, "CAIRN_REDIS_URL="+second.URL)
			f.goesOn(root)
		})
	}
}

// copied has a Redis write all that it holds, and gives a folder with a copy of it:
// backup.rdb, and its append-only file.
func copied(t *testing.T, address string) (dir string) {
	t.Helper()
	client, err := conn.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	where, err := client.ConfigGet(t.Context(), "d*").Result() // dir and dbfilename
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := os.ReadFile(filepath.Join(where["dir"], where["dbfilename"]))
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = os.MkdirTemp("", "cairn-test-backup-"); err != nil { //nolint:usetesting // root's servers run as another user
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "backup.rdb"), snapshot, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "appendonlydir"), os.DirFS(filepath.Join(where["dir"], "appendonlydir"))); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o777)) //nolint:gosec // it holds test data alone
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
