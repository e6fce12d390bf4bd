package parse

import (
	"encoding/json"
	"errors"
	"strings"
)

// maxOutput is how much is read of what a cell of a notebook printed, in bytes.
const maxOutput = 2000

// notebook is a Jupyter notebook, as far as its text goes.
type notebook struct {
	Cells    []notebookCell `json:"cells"`
	Metadata struct {
		Title    string `json:"title"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
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
	if read.Cells == nil {
		return Text{}, &BrokenError{Name: in.name, Format: "notebook", Err: errors.New("it has no cells")}
	}
	var out strings.Builder
	for _, cell := range read.Cells {
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
	text, err := readMarkdown(in, Text{}, out.String())
	if text.Title == "" {
		text.Title = read.Metadata.Title
	}
	return text, err
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
