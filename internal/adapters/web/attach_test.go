package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/web/uploads"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

var (
	errBroken  = errors.New("broken")
	againInput = regexp.MustCompile(`name="files" value="([^"]*)"`)
)

// serveWithFiles runs the adapter over a bot, with a store of files.
func serveWithFiles(t *testing.T, bot served) (*Web, uploads.Store) {
	t.Helper()
	options := over(bot)
	options.Suggestions, options.Uploads = suggestions, uploads.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
	w, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	run(t, w, bot)
	return w, options.Uploads
}

// sent is a file of a form.
type sent struct {
	name    string
	content []byte
}

// attach sends a message with files as the page's script does.
func (v visitor) attach(t *testing.T, fields url.Values, files ...sent) (status int, problem string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, file := range files {
		part, err := form.CreateFormFile("file", file.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(file.content); err != nil {
			t.Fatal(err)
		}
	}
	for name, values := range fields {
		for _, value := range values {
			if err := form.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.page+"/messages", &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Accept", "application/json")
	response, err := v.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	var answer accepted
	if err := json.Unmarshal([]byte(read(t, response)), &answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer.Error
}

func (v visitor) thread() chat.ThreadID {
	return chatID(v.page[strings.LastIndex(v.page, "/")+1:])
}

// named gives what files are kept of a conversation, the latest first.
func (v visitor) named(t *testing.T, store uploads.Store) []string {
	t.Helper()
	files, err := store.Files(t.Context(), v.thread(), false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name)
	}
	return names
}

func TestFilesComeWithAMessage(t *testing.T) {
	bot := sampleBot()
	w, store := serveWithFiles(t, bot)
	v := newVisitor(t, w)
	status, problem := v.attach(t, url.Values{"text": {"What is this file about?"}, "depth": {"brief"}},
		sent{`C:\bills\..\"bill".txt`, []byte("total 7")}, sent{"empty-name.md", []byte("# Hi")})
	if status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, problem)
	}
	v.Say(t, "and then?") // is answered after the first
	got := bot.Messages()[0]
	if got.Text != "What is this file about?" || got.Depth != chat.Brief || len(got.Files) != 2 || got.Files[0].Size != 7 || got.Files[1].Name != "empty-name.md" {
		t.Fatalf("arrived: %+v", got)
	}
	if strings.ContainsAny(got.Files[0].Name, `/\`) {
		t.Errorf("the name %q has a folder", got.Files[0].Name)
	}
	content, err := store.Fetch(t.Context(), got.Thread, got.Files[0], 100)
	if err != nil || string(content) != "total 7" {
		t.Errorf("the file holds %q, %v", content, err)
	}
	page := v.get(t)
	if !strings.Contains(page, `<bdi>empty-name.md</bdi> <small>4 bytes</small>`) {
		t.Errorf("the page does not show the files:\n%s", page)
	}
	other := newVisitor(t, w)
	other.page = v.page
	if status, problem := other.attach(t, url.Values{"text": {"mine now"}}, sent{"a.txt", []byte("x")}); status != http.StatusForbidden {
		t.Errorf("somebody else attached a file: %d %s", status, problem)
	}
	if got := v.named(t, store); len(got) != 2 {
		t.Errorf("kept are %q", got)
	}
}

func TestAFileNeedsNoWords(t *testing.T) {
	bot := sampleBot()
	w, _ := serveWithFiles(t, bot)
	v := newVisitor(t, w)
	if status, problem := v.attach(t, url.Values{"text": {" "}}, sent{"bill.txt", []byte("total 7")}); status != http.StatusAccepted {
		t.Fatalf("status %d: %s", status, problem)
	}
	if status, problem := v.attach(t, url.Values{"text": {" "}}); status != http.StatusBadRequest || !strings.Contains(problem, "empty") {
		t.Errorf("neither words nor files: %d %s", status, problem)
	}
	v.Say(t, "and then?")
	if got := bot.Messages()[0]; got.Text != "" || len(got.Files) != 1 {
		t.Errorf("arrived: %+v", got)
	}
	if page := v.get(t); !strings.Contains(page, `-title">bill.txt</h2>`) {
		t.Errorf("the exchange is not named by its file:\n%s", page)
	}
}

func TestFilesThatCannotBeTaken(t *testing.T) {
	bot := sampleBot()
	w, store := serveWithFiles(t, bot)
	v := newVisitor(t, w)
	large := bytes.Repeat([]byte("x"), uploads.MaxFile)
	many := slices.Repeat([]sent{{"a.txt", []byte("x")}}, chat.MaxFiles+1)
	for name, test := range map[string]struct {
		files  []sent
		fields url.Values
		status int
		says   string
	}{
		"too many":             {many, nil, http.StatusRequestEntityTooLarge, "A message can have 10 files."},
		"one that is large":    {[]sent{{"a.txt", []byte("x")}, {"dump.sql", append(large, 'x')}}, nil, http.StatusRequestEntityTooLarge, "dump.sql is larger than 8 MB."},
		"together large":       {[]sent{{"a", large}, {"b", large}, {"c", large}}, nil, http.StatusRequestEntityTooLarge, "larger than 20 MB together"},
		"far too large":        {slices.Repeat([]sent{{"a", large}}, 4), nil, http.StatusRequestEntityTooLarge, "larger than 20 MB together"},
		"an empty one":         {[]sent{{"a.txt", nil}}, nil, http.StatusBadRequest, "a.txt is empty"},
		"no depth":             {[]sent{{"a.txt", []byte("x")}}, url.Values{"text": {"hi"}, "depth": {"abyss"}}, http.StatusBadRequest, "brief, detailed"},
		"a long message":       {[]sent{{"a.txt", []byte("x")}}, url.Values{"text": {strings.Repeat("x", maxMessage+1)}}, http.StatusRequestEntityTooLarge, "longer than 1 MiB"},
		"a question is closed": {[]sent{{"a.txt", []byte("x")}}, url.Values{"question": {"m-none-0"}, "choice": {"0"}}, http.StatusConflict, "not open any more"},
	} {
		t.Run(name, func(t *testing.T) {
			status, problem := v.attach(t, test.fields, test.files...)
			if status != test.status || !strings.Contains(problem, test.says) {
				t.Errorf("status %d: %s", status, problem)
			}
			if kept := v.named(t, store); len(kept) > 0 {
				t.Errorf("kept are %q", kept)
			}
		})
	}
	if got := bot.Messages(); len(got) > 0 {
		t.Errorf("arrived: %+v", got)
	}
}

// TestFilesAreSentAgain asks again after nothing was answered: the files go with the question.
func TestFilesAreSentAgain(t *testing.T) {
	bot := sampleBot()
	bot.On("break", chattest.Fails(errBroken))
	w, store := serveWithFiles(t, bot)
	v := newVisitor(t, w)
	v.attach(t, url.Values{"text": {"break"}}, sent{"a.txt", []byte("x")})
	v.Say(t, "wait for it")
	again := only(t, v.get(t), againInput)
	other := newVisitor(t, w)
	other.post(t, url.Values{"text": {"hello"}, "files": {again}})
	v.post(t, url.Values{"text": {"hello"}, "files": {again}})
	got := bot.Messages()
	if len(got) != 4 || len(got[2].Files) != 0 || len(got[3].Files) != 1 || got[3].Files[0] != got[0].Files[0] {
		t.Errorf("arrived: %+v", got)
	}
	v.post(t, url.Values{"text": {""}, "files": {"m-none"}})
	if kept := v.named(t, store); !slices.Equal(kept, []string{"a.txt"}) {
		t.Errorf("kept are %q", kept)
	}
}
