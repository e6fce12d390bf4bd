package forge

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
)

// Proposer opens merge requests. It is for Gitea and Forgejo.
type Proposer struct{ connector *Connector }

// NewProposer returns what proposes changes of the repositories that Options name. Its token may
// write to them.
func NewProposer(options Options) *Proposer { return &Proposer{New(options)} }

// Original is a file of a repository as it stands in its default branch.
type Original struct {
	Repository string // "acme/app"
	Branch     string
	Path       string // "docs/install.md"
	Blob       string // by which the forge refuses a change of another version
	Content    []byte
}

// MergeRequest is a change of files of one repository that its people are to decide about.
type MergeRequest struct {
	// Branch is made for it. A request whose branch is there already is not made again.
	Branch      string
	Title, Body string
	Files       []FileChange // of one repository and branch, at least one
}

// FileChange is what a file is to hold.
type FileChange struct {
	Original
	Content []byte
}

// ErrNoFile is the error for a document that is no file of a repository.
var ErrNoFile = errors.New("the document is no file of a repository")

// ErrOutdated is the error for a change of a file that was changed since it was read.
var ErrOutdated = errors.New("the file was changed on the forge meanwhile")

// branchName is what branches of merge requests are called.
var branchName = regexp.MustCompile(`^[a-z0-9]+(?:[/-][a-z0-9]+)*$`)

// ReadFile reads the file of a document from the forge. ErrNoFile, also where it is not there any more.
func (p *Proposer) ReadFile(ctx context.Context, document knowledge.DocumentID) (Original, error) {
	local, ok := strings.CutPrefix(string(document), string(p.connector.options.Source)+":")
	name, part, path, found := parseLocalID(local)
	if !ok || !found || part != Files || !isSafeName(name) || !isFilePath(path) {
		return Original{}, ErrNoFile
	}
	original, err := p.readFile(ctx, name, path)
	if isGone(err) {
		return Original{}, fmt.Errorf("read %s of %s: %w: %w", path, name, ErrNoFile, err)
	}
	if err != nil {
		return Original{}, fmt.Errorf("read %s of %s: %w", path, name, err)
	}
	return original, nil
}

// isFilePath reports whether a path stays in its repository, segment by segment.
func isFilePath(path string) bool {
	return fs.ValidPath(path) && path != "." && !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7F })
}

func (p *Proposer) readFile(ctx context.Context, name, path string) (Original, error) {
	asker, err := p.newAsker()
	if err != nil {
		return Original{}, err
	}
	defer asker.client.Close()
	answer, err := asker.get(ctx, asker.speaks.repositoryPath(name))
	if err != nil {
		return Original{}, err
	}
	described, err := asker.speaks.readRepository(answer.Body)
	if err != nil {
		return Original{}, err
	}
	answer, err = asker.get(ctx, withQuery(contentsPath(name, path), url.Values{"ref": {described.Branch}}))
	if err != nil {
		return Original{}, err
	}
	var read struct {
		Type     string `json:"type"`
		SHA      string `json:"sha"`
		Encoding string `json:"encoding"`
		Content  string `json:"content"`
	}
	if err := decode(answer.Body, &read); err != nil {
		return Original{}, err
	}
	if read.Type != "file" || read.Encoding != "base64" {
		return Original{}, ErrNoFile
	}
	content, err := base64.StdEncoding.DecodeString(read.Content)
	if err != nil {
		return Original{}, fmt.Errorf("what the forge says can't be read: %w", err)
	}
	return Original{Repository: name, Branch: described.Branch, Path: path, Blob: read.SHA, Content: content}, nil
}

// contentsPath names a file of a repository.
func contentsPath(name, path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return repositoryPathOf(name) + "/contents/" + strings.Join(segments, "/")
}

// Propose commits the change to a branch of its own, opens a merge request of it, and gives its
// address. Done again, it gives the address of the one that is there. ErrOutdated.
func (p *Proposer) Propose(ctx context.Context, change MergeRequest) (address string, err error) {
	if len(change.Files) == 0 || !branchName.MatchString(change.Branch) {
		return "", fmt.Errorf("propose a change: want files, and a branch such as cairn/a1b2, not %q", change.Branch)
	}
	first := change.Files[0]
	for _, file := range change.Files {
		if file.Repository != first.Repository || file.Branch != first.Branch {
			return "", errors.New("propose a change: its files are of several repositories")
		}
	}
	asker, err := p.newAsker()
	if err != nil {
		return "", err
	}
	defer asker.client.Close()
	if address, err = findRequest(ctx, asker, change); address != "" || err != nil {
		return address, err
	}
	if err := commitFiles(ctx, asker, change); err != nil {
		return "", fmt.Errorf("commit to %s: %w", first.Repository, err)
	}
	err = asker.write(ctx, repositoryPathOf(first.Repository)+"/pulls", map[string]string{
		"head": change.Branch, "base": first.Branch, "title": change.Title, "body": change.Body,
	})
	if status, _ := StatusOf(err); err != nil && status != http.StatusConflict { // by an attempt whose answer was lost
		return "", fmt.Errorf("open a merge request in %s: %w", first.Repository, err)
	}
	if address, err = findRequest(ctx, asker, change); address == "" && err == nil {
		err = fmt.Errorf("open a merge request in %s: the forge does not show it", first.Repository)
	}
	return address, err
}

// commitFiles makes the branch with one commit, unless it is there.
func commitFiles(ctx context.Context, asker *asker, change MergeRequest) error {
	first := change.Files[0]
	_, err := asker.get(ctx, repositoryPathOf(first.Repository)+"/branches/"+url.PathEscape(change.Branch))
	if err == nil || !isGone(err) {
		return err
	}
	type operation struct {
		Operation string `json:"operation"`
		Path      string `json:"path"`
		SHA       string `json:"sha"`
		Content   string `json:"content"`
	}
	commit := struct {
		Branch    string      `json:"branch"`
		NewBranch string      `json:"new_branch"`
		Message   string      `json:"message"`
		Files     []operation `json:"files"`
	}{Branch: first.Branch, NewBranch: change.Branch, Message: change.Title}
	for _, file := range change.Files {
		commit.Files = append(commit.Files, operation{"update", file.Path, file.Blob, base64.StdEncoding.EncodeToString(file.Content)})
	}
	err = asker.write(ctx, repositoryPathOf(first.Repository)+"/contents", commit)
	if status, ok := StatusOf(err); ok && (status == http.StatusConflict || status == http.StatusUnprocessableEntity) {
		return fmt.Errorf("%w: %w", ErrOutdated, err)
	}
	return err
}

// findRequest gives the address of the merge request of a branch, "" where there is none.
func findRequest(ctx context.Context, asker *asker, change MergeRequest) (string, error) {
	first := change.Files[0]
	path := fmt.Sprintf("%s/pulls/%s/%s", repositoryPathOf(first.Repository), url.PathEscape(first.Branch), url.PathEscape(change.Branch))
	answer, err := asker.get(ctx, path)
	if isGone(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for a merge request: %w", err)
	}
	return readRequestAddress(answer.Body)
}

func readRequestAddress(raw []byte) (string, error) {
	var read struct {
		Web string `json:"html_url"`
	}
	if err := decode(raw, &read); err != nil {
		return "", err
	}
	if address, err := url.Parse(read.Web); err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return "", errors.New("the forge gives no address of the merge request")
	}
	return read.Web, nil
}

func (p *Proposer) newAsker() (*asker, error) {
	if p.connector.options.Kind != Gitea {
		return nil, fmt.Errorf("propose a change: merge requests on %s are not supported", p.connector.options.Kind)
	}
	at, err := p.connector.place()
	if err != nil {
		return nil, err
	}
	return p.connector.newAsker(at), nil
}

// StatusOf gives the status with which a forge refused; false where an error tells of none.
func StatusOf(err error) (status int, ok bool) {
	refused, ok := errors.AsType[*remote.StatusError](err)
	if !ok {
		return 0, false
	}
	return refused.Status, true
}

// write sends JSON to a path to have something made: status 200 or 201, others are a
// *remote.StatusError. It is asked once.
func (a *asker) write(ctx context.Context, path string, body any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	answer, err := a.client.DoOnce(ctx, func(ctx context.Context) (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.api+path, bytes.NewReader(content))
		if err == nil {
			request.Header.Set("Content-Type", "application/json")
			a.speaks.authorize(request.Header, a.token)
		}
		return request, err
	})
	if err == nil && answer.Status != http.StatusOK && answer.Status != http.StatusCreated {
		err = &remote.StatusError{Status: answer.Status}
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	return nil
}
