package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strings"
)

// maxOutput is how much is read of what a cell of a notebook printed, in bytes.
const maxOutput = 2000

// notebook is a Jupyter notebook, as far as its text goes.
type notebook struct {
	Cells    notebookCells `json:"cells"`
	Metadata struct {
		Title    string `json:"title"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// notebookCells is whether a notebook has cells, which are read one by one.
type notebookCells bool

// UnmarshalJSON implements json.Unmarshaler.
func (c *notebookCells) UnmarshalJSON(data []byte) error {
	*c = data[0] == '['
	return nil
}

type notebookCell struct {
	Kind    string        `json:"cell_type"`
	Source  notebookLines `json:"source"`
	Outputs []struct {
		Text notebookLines `json:"text"`
		Data struct {
			Plain notebookLines `json:"text/plain"`
		} `json:"data"`
	} `json:"outputs"`
}

// notebookLines is a text, which stands in a notebook as one or as its lines.
type notebookLines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *notebookLines) UnmarshalJSON(data []byte) error {
	var lines []string
	if err := json.Unmarshal(data, &lines); err == nil {
		*l = notebookLines(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(l))
}

// parseNotebook reads a notebook by the Markdown that it stands for: its text, its code, and the
// beginning of what the code printed.
func parseNotebook(in input) (Text, error) {
	var read notebook
	if err := json.Unmarshal(in.content, &read); err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "notebook", Err: err}
	}
	if !read.Cells {
		return Text{}, &BrokenError{Name: in.name, Format: "notebook", Err: errors.New("it has no cells")}
	}
	facts := Text{Title: read.Metadata.Title}
	reader := newMarkdownReader(in)
	var out strings.Builder
	for cell, err := range cellsOf(in.content) {
		if err != nil {
			return Text{}, &BrokenError{Name: in.name, Format: "notebook", Err: err}
		}
		if in.isLarge() && int64(out.Len()) >= in.limits.Part {
			if err := reader.readPart(facts, out.String()); err != nil {
				return Text{}, err
			}
			out.Reset()
		}
		source := printable(strings.TrimSpace(string(cell.Source)))
		if cell.Kind != "code" {
			out.WriteString(source + "\n\n")
			continue
		}
		writeFenced(&out, read.Metadata.Language.Name, source)
		for _, output := range cell.Outputs {
			text := strings.TrimSpace(string(output.Text) + string(output.Data.Plain))
			writeFenced(&out, "", printable(strings.ToValidUTF8(text[:min(len(text), maxOutput)], "")))
		}
	}
	if err := reader.readPart(facts, out.String()); err != nil {
		return Text{}, err
	}
	return reader.finish(facts), nil
}

// cellsOf yields the cells of a notebook.
func cellsOf(content []byte) iter.Seq2[notebookCell, error] {
	return func(yield func(notebookCell, error) bool) {
		decoder := json.NewDecoder(bytes.NewReader(content))
		if err := skipToCells(decoder); err != nil {
			yield(notebookCell{}, err)
			return
		}
		for decoder.More() {
			var cell notebookCell
			err := decoder.Decode(&cell)
			if !yield(cell, err) || err != nil {
				return
			}
		}
	}
}

// skipToCells reads up to the first cell.
func skipToCells(decoder *json.Decoder) error {
	if _, err := decoder.Token(); err != nil { // the notebook's brace
		return err
	}
	for {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if key == "cells" {
			_, err := decoder.Token() // their bracket
			return err
		}
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return err
		}
	}
}

func writeFenced(out *strings.Builder, language, code string) {
	if strings.TrimSpace(code) == "" {
		return
	}
	fence := fenceFor(code)
	out.WriteString(fence + strings.Map(onlyWord, language) + "\n" + code + "\n" + fence + "\n\n")
}

// onlyWord keeps what a language's name is made of.
func onlyWord(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '#' {
		return r
	}
	return -1
}
