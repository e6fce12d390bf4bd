package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/utils/merkletrie"
	"golang.org/x/crypto/ssh"
)

// MirrorOptions say what a Mirror keeps. Options.Hosts means nothing for it.
type MirrorOptions struct {
	Options

	Address string // https://, http:// or ssh://
	Branch  string // "": the repository's default branch
	// Token is sent with requests over HTTPS; "": none.
	Token string
	// KeyFile has the private key, without a passphrase, and KnownHosts the server's public
	// keys, for SSH.
	KeyFile, KnownHosts string
	// Folder is the mirror's own. It is made where it is missing, and what is lost in it is
	// received again.
	Folder string
}

// Mirror keeps the files of a branch's newest commit in a folder. One Update at a time.
type Mirror struct{ options MirrorOptions }

// NewMirror returns a mirror, which receives nothing yet.
func NewMirror(options MirrorOptions) *Mirror {
	options.Options = options.withDefaults()
	return &Mirror{options}
}

// Checkout is what a mirror holds.
type Checkout struct {
	Commit string    // whole hash
	At     time.Time // when it was committed
	Folder string    // of its files; links and submodules are left out
}

// tokenUser is the name that a token is sent under: GitHub and Gitea take any, GitLab this one.
const tokenUser = "oauth2"

// Update brings the files up to the newest commit. Of what the mirror has nothing is received
// again. A file that did not change is not touched; one that did has the commit's time. The
// errors are those of Fetcher.Fetch.
func (m *Mirror) Update(ctx context.Context) (Checkout, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.options.Time, fmt.Errorf("it took longer than %s", m.options.Time))
	defer cancel()
	held := m.readState()
	checkout, err := m.update(ctx, held)
	if err != nil && held != plumbing.ZeroHash && ctx.Err() == nil && errors.Is(err, errDamaged) {
		checkout, err = m.update(ctx, plumbing.ZeroHash)
	}
	if err != nil {
		return Checkout{}, fmt.Errorf("fetch %s: %w", m.options.Address, limitError(ctx, err))
	}
	return checkout, nil
}

// errDamaged is that what the mirror has does not do to go on from: files were lost, or the server
// does not know its commit any more.
var errDamaged = errors.New("the mirror is damaged")

// FilesFolder is where a mirror has its files. folder is MirrorOptions.Folder.
func FilesFolder(folder string) string { return filepath.Join(folder, "files") }

func (m *Mirror) filesFolder() string { return FilesFolder(m.options.Folder) }

func (m *Mirror) update(ctx context.Context, held plumbing.Hash) (Checkout, error) {
	if held.IsZero() {
		if err := os.RemoveAll(m.options.Folder); err != nil {
			return Checkout{}, fmt.Errorf("empty the mirror: %w", err)
		}
	}
	if err := os.MkdirAll(m.filesFolder(), 0o700); err != nil {
		return Checkout{}, fmt.Errorf("make the mirror: %w", err)
	}
	commit, err := m.receive(ctx, held)
	if err != nil {
		return Checkout{}, err
	}
	objects := openStore(m.options.Folder)
	defer func() { _ = objects.Close() }() //nolint:errcheck // it was only read from
	found, err := object.GetCommit(objects, commit)
	if err != nil {
		return Checkout{}, fmt.Errorf("%w: read commit %s: %w", errDamaged, commit, err)
	}
	checkout := Checkout{Commit: commit.String(), At: found.Committer.When.UTC(), Folder: m.filesFolder()}
	if commit == held {
		return checkout, nil
	}
	// Until all is written, the mirror holds no commit.
	if err := os.Remove(m.statePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Checkout{}, fmt.Errorf("update the mirror: %w", err)
	}
	root, err := os.OpenRoot(m.filesFolder())
	if err != nil {
		return Checkout{}, fmt.Errorf("update the mirror: %w", err)
	}
	if held.IsZero() {
		err = m.writeAll(ctx, found, root)
	} else if err = m.writeChanges(ctx, held, found, root); err != nil && ctx.Err() == nil && !errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := errors.Join(err, root.Close()); err != nil {
		return Checkout{}, err
	}
	return checkout, m.writeState(commit)
}

// receive receives the newest commit into the mirror's store.
func (m *Mirror) receive(ctx context.Context, held plumbing.Hash) (commit plumbing.Hash, err error) {
	endpoint, err := transport.NewEndpoint(m.options.Address)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read the address: %w", err)
	}
	budget := m.options.Received
	client, auth, err := m.connect(endpoint, &budget)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	session, err := client.NewUploadPackSession(endpoint, auth)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("begin: %w", err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	pack := filepath.Join(m.options.Folder, packName)
	if err := os.Remove(pack); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an update that was killed
		return plumbing.ZeroHash, fmt.Errorf("update the mirror: %w", err)
	}
	commit, err = m.options.receiveCommit(ctx, session, commitRequest{branch: m.options.Branch, have: held, folder: m.options.Folder})
	if err := os.Remove(pack); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plumbing.ZeroHash, fmt.Errorf("update the mirror: %w", err)
	}
	return commit, err
}

// connect gives what speaks to the server, and how it is told who asks.
func (m *Mirror) connect(endpoint *transport.Endpoint, budget *int64) (transport.Transport, transport.AuthMethod, error) {
	if endpoint.Protocol == "ssh" {
		key, err := newDeployKey(endpoint, m.options)
		return gitssh.NewClient(nil), key, err
	}
	address, err := url.Parse(m.options.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("read the address: %w", err)
	}
	client := m.options.newClient(budget, func(to *url.URL) error {
		if to.Scheme != address.Scheme || hostOf(to.Host) != hostOf(address.Host) {
			return &AddressError{to.Redacted(), "the repository's server leads to another one"}
		}
		return nil
	})
	if m.options.Token == "" {
		return githttp.NewClient(client), nil, nil
	}
	return githttp.NewClient(client), &githttp.BasicAuth{Username: tokenUser, Password: m.options.Token}, nil
}

// deployKey is a private key, and the public keys that the server may have.
type deployKey struct {
	*gitssh.PublicKeys
	algorithms []string
}

// ClientConfig implements gitssh.AuthMethod.
func (k *deployKey) ClientConfig() (*ssh.ClientConfig, error) {
	config, err := k.PublicKeys.ClientConfig()
	if err != nil {
		return nil, err //nolint:wrapcheck // the library words it
	}
	config.HostKeyAlgorithms, config.Timeout = k.algorithms, dialTime
	return config, nil
}

const sshPort = 22

func newDeployKey(endpoint *transport.Endpoint, options MirrorOptions) (*deployKey, error) {
	keys, err := gitssh.NewPublicKeysFromFile(endpoint.User, options.KeyFile, "")
	if err != nil {
		return nil, fmt.Errorf("read the private key of key_file: want one without a passphrase: %w", err)
	}
	known, err := gitssh.NewKnownHostsDb(options.KnownHosts)
	if err != nil {
		return nil, fmt.Errorf("read known_hosts: %w", err)
	}
	port := endpoint.Port
	if port <= 0 {
		port = sshPort
	}
	host := fmt.Sprintf("%s:%d", endpoint.Host, port)
	algorithms := known.HostKeyAlgorithms(host)
	if len(algorithms) == 0 {
		return nil, fmt.Errorf("known_hosts has no key of %s: `ssh-keyscan %s` prints them", host, endpoint.Host)
	}
	keys.HostKeyCallback = known.HostKeyCallback()
	return &deployKey{keys, algorithms}, nil
}

// writeAll writes the files of a commit into an empty folder.
func (m *Mirror) writeAll(ctx context.Context, commit *object.Commit, root *os.Root) error {
	state, err := m.options.writeFiles(ctx, commit.Hash, m.options.Folder, root)
	if err != nil {
		return err
	}
	for _, name := range state.Files {
		if err := root.Chtimes(name, commit.Committer.When, commit.Committer.When); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// writeChanges writes what differs between the commit that the mirror holds and another.
func (m *Mirror) writeChanges(ctx context.Context, held plumbing.Hash, to *object.Commit, root *os.Root) error {
	objects := openStore(m.options.Folder)
	defer func() { _ = objects.Close() }() //nolint:errcheck // it was only read from
	from, err := object.GetCommit(objects, held)
	if err != nil {
		return fmt.Errorf("read commit %s: %w", held, err)
	}
	before, err := from.Tree()
	if err != nil {
		return fmt.Errorf("read the files of commit %s: %w", held, err)
	}
	after, err := to.Tree()
	if err != nil {
		return fmt.Errorf("read the files of commit %s: %w", to.Hash, err)
	}
	changes, err := object.DiffTreeWithOptions(ctx, before, after, nil)
	if err != nil {
		return fmt.Errorf("compare commits %s and %s: %w", held, to.Hash, err)
	}
	for _, change := range changes {
		if name := change.From.Name; name != "" && isWritable(name) {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove %s: %w", name, err)
			}
		}
	}
	left := m.options.Written
	for _, change := range changes { // after all that goes, for a file may take the place of a folder
		if err := m.writeChange(change, to, root, &left); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mirror) writeChange(change *object.Change, commit *object.Commit, root *os.Root, left *int64) error {
	action, err := change.Action()
	if err != nil {
		return fmt.Errorf("compare the commits: %w", err)
	}
	name, entry := change.To.Name, change.To.TreeEntry
	if action == merkletrie.Delete || entry.Mode == filemode.Submodule || entry.Mode == filemode.Symlink || !isWritable(name) {
		return nil
	}
	blob, err := change.To.Tree.TreeEntryFile(&entry)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if *left -= blob.Size; *left < 0 {
		return fmt.Errorf("%w: what changed has more than %d bytes", ErrTooLarge, m.options.Written)
	}
	if err := copyReplacing(&blob.Blob, root, name); err != nil {
		return err
	}
	if err := root.Chtimes(name, commit.Committer.When, commit.Committer.When); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// copyReplacing writes a file where an empty folder may be left of what went.
func copyReplacing(blob *object.Blob, root *os.Root, name string) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return copyBlob(blob, root, name)
}

// mirrorState says what a mirror holds, in the file that statePath names.
type mirrorState struct {
	Version int    `json:"version"`
	Address string `json:"address"`
	Branch  string `json:"branch,omitempty"`
	Commit  string `json:"commit"`
}

const mirrorVersion = 1

func (m *Mirror) statePath() string { return filepath.Join(m.options.Folder, "mirror.json") }

// readState gives the commit that the mirror holds, zero where it is none of this repository and
// branch.
func (m *Mirror) readState() plumbing.Hash {
	state, err := readMirrorState(m.statePath())
	if err != nil || state.Address != m.options.Address || state.Branch != m.options.Branch {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(state.Commit)
}

func readMirrorState(file string) (mirrorState, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return mirrorState{}, err //nolint:wrapcheck // the callers say what is read
	}
	var state mirrorState
	if err := json.Unmarshal(data, &state); err != nil {
		return mirrorState{}, fmt.Errorf("decode %s: %w", file, err)
	}
	if state.Version != mirrorVersion || !commitHash.MatchString(state.Commit) {
		return mirrorState{}, fmt.Errorf("%s is not of version %d, or names no commit", file, mirrorVersion)
	}
	return state, nil
}

// FindCheckout gives what a mirror of an address holds, without an update; fs.ErrNotExist where it
// holds nothing of that address, or is being updated. folder is MirrorOptions.Folder. At is not
// known.
func FindCheckout(folder, address string) (Checkout, error) {
	m := Mirror{MirrorOptions{Folder: folder}}
	state, err := readMirrorState(m.statePath())
	if err == nil && state.Address != address {
		err = fmt.Errorf("it holds %s: %w", state.Address, fs.ErrNotExist)
	}
	if err != nil {
		return Checkout{}, fmt.Errorf("find the mirror of %s: %w", address, err)
	}
	return Checkout{Commit: state.Commit, Folder: m.filesFolder()}, nil
}

func (m *Mirror) writeState(commit plumbing.Hash) error {
	data, err := json.Marshal(mirrorState{mirrorVersion, m.options.Address, m.options.Branch, commit.String()})
	if err == nil {
		err = os.WriteFile(m.statePath(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("update the mirror: %w", err)
	}
	return nil
}
