package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// maxSameName is how many files of one name are told apart by a number.
const maxSameName = 1000

// notice is a line of the adapter's own about an answer.
type notice struct {
	sign line
	text string
}

// saveDocuments writes the documents of a reply into the folder, and returns what tells where
// they are.
func (c *Conversation) saveDocuments(documents []chat.Document) ([]notice, error) {
	var notices []notice
	for _, document := range documents {
		if c.IsShown != nil && c.IsShown(document) {
			continue
		}
		if !document.Kept() {
			notices = append(notices, notice{line{{"· ", style{faint: true}}}, fmt.Sprintf("%s (%s) is not kept any more.", document.Name, markup.Size(document.Size))})
			continue
		}
		path, err := writeDocument(c.Documents, document)
		if err != nil {
			return notices, fmt.Errorf("write document %s: %w", markup.CleanLine(document.Name), err)
		}
		notices = append(notices, notice{line{{"✓ ", style{good: true}}}, fmt.Sprintf("Wrote %s (%s)", path, markup.Size(document.Size))})
	}
	return notices, nil
}

// writeNotice writes a line of the adapter's own about an answer.
func (r Renderer) writeNotice(sign line, text string) error {
	return r.writeLines(hangingIndent(sign, plainLine(markup.CleanLine(text)), r.width()))
}

// writeDocument writes a document into a folder, "" for the current one, under a name that no file
// has there, and gives its path. It leaves the folder by no name.
func writeDocument(folder string, document chat.Document) (path string, err error) {
	root, err := os.OpenRoot(cmp.Or(folder, "."))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	file, err := createFile(root, document.Name)
	if err != nil {
		return "", err
	}
	if _, err := file.Write(document.Content); err != nil {
		return "", errors.Join(err, file.Close(), root.Remove(filepath.Base(file.Name())))
	}
	return filepath.Join(folder, filepath.Base(file.Name())), file.Close()
}

// createFile makes a new file: "risks.md", or "risks-2.md" where there is one.
func createFile(root *os.Root, name string) (*os.File, error) {
	ending := filepath.Ext(name)
	stem, free := strings.TrimSuffix(name, ending), name
	for n := 2; n <= maxSameName+1; n++ {
		file, err := root.OpenFile(free, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		free = stem + "-" + strconv.Itoa(n) + ending
	}
	return nil, fmt.Errorf("there are %d files of that name in %s: move them away", maxSameName, root.Name())
}
