package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/servertest"
)

// forgottenWord is in what Ann writes, and nowhere else.
const forgottenWord = "quokkabird"

// filesWith gives the files below a folder that hold a text.
func filesWith(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// asksForALaptop has Ann write many words that are to be forgotten, in several threads.
func (f *fortress) asksForALaptop() {
	f.t.Helper()
	for i := range 8 {
		words := strings.Repeat(fmt.Sprintf(" %s%d", forgottenWord, i), 20*i)
		f.ann.Says(f.general, "", fmt.Sprintf("%swhere do I get a laptop? My %s number %d.%s", mention, forgottenWord, i, words))
	}
	if !f.wait(func() bool { return strings.Count(f.slack.Show(f.general), "⋯ Why") >= 8 }) {
		f.t.Fatalf("not all is answered:\n%s", f.slack.Show(f.general))
	}
}

// TestForgottenWordsAreInNoFile has what Ann wrote forgotten while the program goes on, and
// looks for it in the files of the stores.
func TestForgottenWordsAreInNoFile(t *testing.T) {
	t.Parallel()
	t.Run("in the data directory", func(t *testing.T) {
		f := newFortress(t)
		f.asksForALaptop()
		if names := filesWith(t, f.data, forgottenWord); len(names) == 0 {
			t.Fatal("what Ann wrote is in no file: this test looks in the wrong place")
		}
		f.forgets("The files in the data directory hold nothing of it any more.")
		if names := filesWith(t, f.data, forgottenWord); len(names) > 0 {
			t.Errorf("forgotten words are in %q", names)
		}
		f.process.end(syscall.SIGTERM)
		if names := filesWith(t, f.data, forgottenWord); len(names) > 0 {
			t.Errorf("after the end, forgotten words are in %q", names)
		}
	})
	t.Run("in Redis", func(t *testing.T) {
		f := newFortress(t)
		f.process.end(syscall.SIGTERM)
		server := servertest.OwnRedis(t)
		f.env = append(f.env, "CAIRN_REDIS_URL="+server.URL)
		f.serve()
		f.asksForALaptop()
		client, err := conn.Open(t.Context(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		where, err := client.ConfigGet(t.Context(), "dir").Result()
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(where["dir"], "appendonlydir")
		if names := filesWith(t, folder, forgottenWord); len(names) == 0 {
			t.Fatal("what Ann wrote is in no file: this test looks in the wrong place")
		}
		f.forgets("Redis's append-only file was written anew")
		var names []string
		if !f.wait(func() bool { names = filesWith(t, folder, forgottenWord); return len(names) == 0 }) { // old files are removed in the background
			t.Errorf("forgotten words are in %q", names)
		}
		for what, change := range map[string]struct{ setting, says string }{
			"no append-only file": {"appendonly", "runs without its append-only file"},
		} {
			if err := client.ConfigSet(t.Context(), change.setting, "no").Err(); err != nil {
				t.Fatal(err)
			}
			out, err := f.command("forget", "--user", "U0ANN").CombinedOutput()
			if err == nil || !strings.Contains(string(out), change.says) {
				t.Errorf("%s: %v\n%s", what, err, out)
			}
		}
	})
}

// forgets has Ann forgotten, and looks for what the command says.
func (f *fortress) forgets(says string) {
	f.t.Helper()
	out, err := f.command("forget", "--user", "U0ANN").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Forgot U0ANN in 8 threads.") || !strings.Contains(string(out), says) {
		f.t.Fatalf("forget: %v\n%s", err, out)
	}
}

// TestFilesAreTheUsersAlone has files made, and kept, in a folder and with a mask that would
// let all users of the machine read them.
func TestFilesAreTheUsersAlone(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o777); err != nil { //nolint:gosec // that is what is tried
		t.Fatal(err)
	}
	o := &program{t: t, env: append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+data, "CAIRN_LIMITS_USER_QUESTIONS_PER_HOUR=9")}
	handbook := t.TempDir()
	if err := os.WriteFile(filepath.Join(handbook, "leave.md"), []byte("# Leave\n\nYou have 28 days of leave a year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.unmasked("ingest", "-q", handbook)
	o.unmasked("ask", "how many days of leave do I have?")
	isClosed := func() {
		t.Helper()
		var names []string
		err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %o", path, info.Mode().Perm())
			}
			names = append(names, entry.Name())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"index.db", "cairn.db"} {
			if !slices.Contains(names, name) {
				t.Errorf("there is no %s in %q", name, names)
			}
		}
	}
	isClosed()
	files, err := filepath.Glob(filepath.Join(data, "*.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, data) {
		if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // likewise
			t.Fatal(err)
		}
	}
	if said := o.unmasked("ask", "what is Cairn?"); !strings.Contains(said, "closed the data directory") {
		t.Errorf("nothing is said of the folder that was open:\n%s", said)
	}
	isClosed()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "thesis.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	out, err := o.command("ingest", "--data", home, "-q", home).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "holds other files than Cairn's") {
		t.Errorf("a folder with somebody's files: %v\n%s", err, out)
	}
}

// unmasked runs the program where new files would be everyone's, and gives what it says.
func (o *program) unmasked(args ...string) string {
	o.t.Helper()
	command := exec.CommandContext(o.t.Context(), "/bin/sh", append([]string{"-c", `umask 0 && exec "$0" "$@"`, o.command().Path}, args...)...)
	command.Env = o.env
	out, err := command.CombinedOutput()
	if err != nil {
		o.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}
