package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// shelf gives the files of a folder and what is in them.
func shelf(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	check(t, err)
	files := make(map[string]string)
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			check(t, err)
			files[entry.Name()] = string(content)
		}
	}
	return files
}

func TestDocumentsAreWritten(t *testing.T) {
	folder := t.TempDir()
	var out bytes.Buffer
	c := &Conversation{Renderer: renderer(&out, 200), Documents: folder}
	check(t, c.Reply(t.Context(), chattest.Analysis()))
	documents := chattest.Analysis().Documents
	files := shelf(t, folder)
	if len(files) != 2 || files["release_risks_analysis.md"] != string(documents[0].Content) || files["Обзор рисков.md"] != string(documents[1].Content) {
		t.Errorf("there are %q", files)
	}
	for _, want := range []string{
		"✓ Wrote " + filepath.Join(folder, "release_risks_analysis.md") + " (44 bytes)\n",
		"✓ Wrote " + filepath.Join(folder, "Обзор рисков.md") + " (20 KB)\n",
		"· context.md (88 KB) is not kept any more.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
}

func TestNoFileIsWrittenOver(t *testing.T) {
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "a.md"), []byte("mine"), 0o600))
	check(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(folder, "a-2.md")))
	check(t, os.Mkdir(filepath.Join(folder, "a-3.md"), 0o700))
	c := &Conversation{Renderer: renderer(&bytes.Buffer{}, 80), Documents: folder}
	check(t, c.Reply(t.Context(), chat.Reply{Documents: chattest.Documents("a.md", "one", "a.md", "two", "LICENSE", "three")}))
	check(t, c.Reply(t.Context(), chat.Reply{Documents: chattest.Documents("LICENSE", "four")}))
	files := shelf(t, folder)
	want := map[string]string{"a.md": "mine", "a-4.md": "one", "a-5.md": "two", "LICENSE": "three", "LICENSE-2": "four"}
	for name, content := range want {
		if files[name] != content {
			t.Errorf("%s holds %q, want %q", name, files[name], content)
		}
	}
	if len(files) != len(want) {
		t.Errorf("there are %q", files)
	}
}

func TestWithoutAFolderItIsTheCurrentOne(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	c := &Conversation{Renderer: renderer(&out, 80)}
	check(t, c.Reply(t.Context(), chat.Reply{Documents: chattest.Documents("a.md", "one")}))
	if files := shelf(t, "."); files["a.md"] != "one" || !strings.Contains(out.String(), "Wrote a.md (3 bytes)") {
		t.Errorf("there are %q, told %q", files, out.String())
	}
}

func TestADocumentStaysInItsFolder(t *testing.T) {
	parent := t.TempDir()
	folder := filepath.Join(parent, "documents")
	check(t, os.Mkdir(folder, 0o700))
	for _, name := range []string{"../a.md", filepath.Join(parent, "a.md"), "none/a.md", "", chattest.Evil} {
		c := &Conversation{Renderer: renderer(&bytes.Buffer{}, 80), Documents: folder}
		if c.Reply(t.Context(), chat.Reply{Documents: chattest.Documents(name, "x")}) == nil {
			t.Errorf("%q is taken for a file's name", name)
		}
		if len(shelf(t, parent))+len(shelf(t, folder)) > 0 {
			t.Fatalf("%q was written", name)
		}
	}
}

func TestAFolderThatIsNotThere(t *testing.T) {
	var out bytes.Buffer
	c := &Conversation{Renderer: renderer(&out, 80), Documents: filepath.Join(t.TempDir(), "none")}
	err := c.Reply(t.Context(), chat.Reply{Text: "All done.", Documents: chattest.Documents("a.md", "x")})
	if err == nil || !strings.Contains(err.Error(), "write document a.md: open "+c.Documents) || !strings.Contains(out.String(), "All done.") {
		t.Errorf("gives %v, shown %q", err, out.String())
	}
}

// TestAChatWritesDocuments has the whole adapter write one.
func TestAChatWritesDocuments(t *testing.T) {
	bot := &chattest.Bot{}
	bot.On("analyze", chattest.Says(chattest.Analysis()))
	c, person := openPiped(t, bot)
	c.options.Documents = t.TempDir()
	ended := begin(c, bot)
	if said := person.Say(t, "analyze"); !strings.Contains(said, "Wrote ") {
		t.Errorf("said %q", said)
	}
	if files := shelf(t, c.options.Documents); len(files) != 2 {
		t.Errorf("there are %q", files)
	}
	check(t, person.in.Close())
	check(t, <-ended)
}
