package buildcontext_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/buildcontext"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
	"github.com/cairn-bot/cairn/internal/racetest"
)

// folderSize is how much text the folder of the large tests has, in bytes.
const folderSize = 3 << 20 / racetest.Stride

// largeFolder makes a folder of folderSize of the documents of the tests, each copy of
// one about another system.
func largeFolder(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	paths, err := filepath.Glob(filepath.Join(documents, "argo-cd/docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for size, n := 0, 0; size < folderSize; n++ {
		text := strings.ReplaceAll(texts[n%len(texts)], "Argo CD", fmt.Sprint("System ", n))
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("doc%03d.md", n)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		size += len(text)
	}
	return root
}

func flowOver(t testing.TB, root string, surveyor *survey.Surveyor) *buildcontext.Flow {
	t.Helper()
	flow, err := buildcontext.New(buildcontext.Options{Reader: document.NewReader(document.Options{Roots: []string{root}}), Surveyor: surveyor})
	if err != nil {
		t.Fatal(err)
	}
	return flow
}

func TestALargeFolderByRules(t *testing.T) {
	outcome := run(t, flowOver(t, largeFolder(t), nil), flows.Request{Text: ". System 3"})
	if len(outcome.Files) != 1 || len(outcome.Files[0].Content) > flows.MaxFile || !strings.Contains(string(outcome.Files[0].Content), "System 3") {
		t.Errorf("%.500s", outcome.Text)
	}
}

type note struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

type part struct {
	Title      string `json:"title"`
	Statements []note `json:"statements"`
}

func TestALargeFolderByAModel(t *testing.T) {
	server := llmtest.New(t)
	server.On(llmtest.Schema("read"), llmtest.By(func(r llmtest.Request) llmtest.Step {
		return llmtest.Value(struct {
			Notes []note `json:"notes"`
		}{[]note{{"The API server exposes the API consumed by the Web UI.", sourcesWith(r, "The API server is a gRPC/REST server")}}})
	}))
	server.On(llmtest.Schema("combine"), llmtest.Value(struct {
		Parts []part `json:"parts"`
	}{[]part{{"Interfaces", []note{{"The API server exposes the API consumed by the Web UI.", []int{1, 2}}}}}}))
	model, err := openai.New(openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: 32_000, MaxReply: 4000, Gate: gate.Options{Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	outcome, err := flowOver(t, largeFolder(t), survey.New(model, nil)).Start(t.Context(), flows.Request{Run: "run", Text: ". System 3"}, flows.Runtime{
		Store: graphtest.NewMemory(),
		Observe: func(e graph.Event) {
			if e.Kind == graph.Detail {
				said = append(said, e.Text)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	requests := len(server.Requests())
	if len(said) != requests || said[len(said)-2] != fmt.Sprintf("Read %d of %d parts", requests-1, requests-1) || requests < 3 {
		t.Errorf("%d requests, said %q", requests, said)
	}
	if file := string(outcome.Files[0].Content); !strings.Contains(file, "- The API server exposes the API consumed by the Web UI. [1][2] (`doc") || !strings.Contains(file, "Nothing was found on this.") {
		t.Errorf("%s", file)
	}
	if len(outcome.Trace.Models) != requests {
		t.Errorf("%d uses of %d requests", len(outcome.Trace.Models), requests)
	}
}

// sourcesWith gives the number of the first source of a prompt that holds a text.
func sourcesWith(r llmtest.Request, text string) []int {
	before, _, found := strings.Cut(r.User(), text)
	if !found {
		return []int{}
	}
	number := 0
	if _, err := fmt.Sscanf(before[strings.LastIndex(before, `<source n="`):], `<source n="%d"`, &number); err != nil {
		panic(err)
	}
	return []int{number}
}
