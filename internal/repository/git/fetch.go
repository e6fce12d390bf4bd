package git

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// Options say what may be fetched. Zero limits are their defaults.
type Options struct {
	// Hosts may be fetched from: "github.com". None: nothing is fetched.
	Hosts []string
	// Received is how much is received for a repository, in bytes: 128 MiB.
	Received int64
	// Written is how much its files have together, in bytes: 512 MiB. A commit's objects
	// may have twice as much.
	Written int64
	// Files is how many there are at most: 100,000.
	Files int
	// Time is how long a repository may take: 2 minutes.
	Time time.Duration
	// AllowPrivate lets addresses be connected to that are not public: for repositories
	// inside a company's network, and for tests.
	AllowPrivate bool
	TLS          *tls.Config // nil: the system's certificates
}

func (o Options) withDefaults() Options {
	if o.Received == 0 {
		o.Received = 128 << 20
	}
	if o.Written == 0 {
		o.Written = 512 << 20
	}
	if o.Files == 0 {
		o.Files = 100_000
	}
	if o.Time == 0 {
		o.Time = 2 * time.Minute
	}
	return o
}

// Fetcher fetches repositories. Its methods may be called concurrently.
type Fetcher struct{ options Options }

// NewFetcher returns a fetcher.
func NewFetcher(options Options) *Fetcher { return &Fetcher{options: options.withDefaults()} }

// Hosts returns the hosts that may be fetched from.
func (f *Fetcher) Hosts() []string { return f.options.Hosts }

// AddressError is an address that may not be fetched. Reason goes on after the address.
type AddressError struct{ Address, Reason string }

func (e *AddressError) Error() string { return "repository " + e.Address + ": " + e.Reason }

// ErrAbsent is an address without a repository that everybody may read.
var ErrAbsent = errors.New("no public repository at this address")

// Check reports whether an address may be fetched; if not, the error is an *AddressError.
func (f *Fetcher) Check(address *url.URL) error {
	refuse := func(reason string) error {
		return &AddressError{address.Redacted(), reason}
	}
	switch {
	case address.Scheme != "https":
		return refuse("only https addresses are fetched")
	case address.User != nil:
		return refuse("an address with a name or password in it is not fetched")
	case !slices.ContainsFunc(f.options.Hosts, func(host string) bool { return hostOf(host) == hostOf(address.Hostname()) }):
		return refuse("its host is not on the list of those that may be fetched from")
	}
	return nil
}

// Fetch writes the files of the newest commit of a repository's default branch into a
// folder that is empty, without links, submodules and history. Failures are an
// *AddressError, ErrAbsent, publicnet.ErrPrivate, ErrTooLarge, or those of the network.
func (f *Fetcher) Fetch(ctx context.Context, address *url.URL, root *os.Root) (state State, err error) {
	if err := f.Check(address); err != nil {
		return State{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.options.Time, fmt.Errorf("it took longer than %s", f.options.Time))
	defer cancel()
	scratch, err := os.MkdirTemp("", "cairn-fetch-")
	if err != nil {
		return State{}, fmt.Errorf("fetch a repository: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	commit, err := f.receivePack(ctx, address, scratch)
	if err != nil {
		return State{}, fmt.Errorf("fetch %s: %w", address.Redacted(), limitError(ctx, err))
	}
	state, err = f.options.writeFiles(ctx, commit, scratch, root)
	if err != nil {
		return State{}, fmt.Errorf("unpack %s: %w", address.Redacted(), limitError(ctx, err))
	}
	state.Remote = address.String()
	return state, nil
}

// limitError names the limit that ended ctx, if one did.
func limitError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// packName is the file that what was received is kept in.
const packName = "received.pack"

// receivePack receives the newest commit of the default branch, without its history, and gives
// its hash.
func (f *Fetcher) receivePack(ctx context.Context, address *url.URL, scratch string) (commit plumbing.Hash, err error) {
	endpoint, err := transport.NewEndpoint(address.String())
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read the address: %w", err)
	}
	budget := f.options.Received
	session, err := githttp.NewClient(f.options.newClient(&budget, f.Check)).NewUploadPackSession(endpoint, nil)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("begin: %w", err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return f.options.receiveCommit(ctx, session, commitRequest{folder: scratch})
}

// commitRequest says which commit is to be received.
type commitRequest struct {
	branch string        // "": the default one
	have   plumbing.Hash // the commit that was received before; zero: none
	folder string        // that the objects are unpacked in
}

// receiveCommit receives the newest commit of a branch, without its history, and gives its hash.
// Of what an earlier commit has as well nothing is received.
func (o Options) receiveCommit(ctx context.Context, session transport.UploadPackSession, wanted commitRequest) (plumbing.Hash, error) {
	none := plumbing.ZeroHash
	offered, err := listReferences(ctx, session)
	if err != nil {
		return none, err
	}
	commit, err := wanted.newest(offered)
	if err != nil || commit == wanted.have {
		return commit, err
	}
	request := packp.NewUploadPackRequestFromCapabilities(offered.Capabilities)
	request.Wants = []plumbing.Hash{commit}
	if !offered.Capabilities.Supports(capability.Shallow) {
		return none, errors.New("the server can't send a commit without history")
	}
	request.Depth = packp.DepthCommits(1)
	if err := request.Capabilities.Set(capability.Shallow); err != nil {
		return none, fmt.Errorf("ask for the commit: %w", err)
	}
	if !wanted.have.IsZero() {
		request.Haves, request.Shallows = []plumbing.Hash{wanted.have}, []plumbing.Hash{wanted.have}
	}
	err = o.receiveObjects(ctx, session, request, wanted.folder)
	if err != nil && !wanted.have.IsZero() && !errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return commit, err
}

// receiveObjects receives what was asked for, and unpacks it in a folder.
func (o Options) receiveObjects(ctx context.Context, session transport.UploadPackSession, request *packp.UploadPackRequest, folder string) error {
	received, err := session.UploadPack(ctx, request)
	if err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	if err := writeObjects(received, objectsOf(received, request.Capabilities), filepath.Join(folder, packName)); err != nil {
		return err
	}
	return o.unpackObjects(folder)
}

// newest gives the newest commit of the branch.
func (r commitRequest) newest(offered *packp.AdvRefs) (plumbing.Hash, error) {
	if r.branch == "" {
		if offered.Head == nil {
			return plumbing.ZeroHash, errors.New("the repository has no default branch")
		}
		return *offered.Head, nil
	}
	commit, ok := offered.References["refs/heads/"+r.branch]
	if !ok {
		return plumbing.ZeroHash, fmt.Errorf("%w: it has no branch %s", ErrAbsent, r.branch)
	}
	return commit, nil
}

// listReferences asks for the branches of a repository.
func listReferences(ctx context.Context, session transport.UploadPackSession) (*packp.AdvRefs, error) {
	offered, err := session.AdvertisedReferencesContext(ctx)
	for _, absent := range []error{
		transport.ErrRepositoryNotFound, transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrEmptyRemoteRepository,
	} {
		if errors.Is(err, absent) {
			return nil, fmt.Errorf("%w: %w", ErrAbsent, err)
		}
	}
	// A wiki of Gitea without a page lists nothing, and not even that it does.
	if unexpected, ok := errors.AsType[*packp.ErrUnexpectedData](err); ok && len(unexpected.Data) == 0 {
		return nil, fmt.Errorf("%w: it lists no branches: %w", ErrAbsent, err)
	}
	if err != nil {
		return nil, fmt.Errorf("list its branches: %w", err)
	}
	return offered, nil
}

// Newest returns the newest commit of a repository's default branch. Failures are as those of
// Fetch.
func (f *Fetcher) Newest(ctx context.Context, address *url.URL) (commit string, err error) {
	if err := f.Check(address); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, fmt.Errorf("it took longer than %s", askTime))
	defer cancel()
	endpoint, err := transport.NewEndpoint(address.String())
	if err != nil {
		return "", fmt.Errorf("read the address: %w", err)
	}
	budget := f.options.Received
	session, err := githttp.NewClient(f.options.newClient(&budget, f.Check)).NewUploadPackSession(endpoint, nil)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", address.Redacted(), err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := listReferences(ctx, session)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", address.Redacted(), limitError(ctx, err))
	}
	newest, err := commitRequest{}.newest(offered)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", address.Redacted(), err)
	}
	return newest.String(), nil
}

// askTime is how long the newest commit of a repository may be waited for.
const askTime = 10 * time.Second

// objectsOf returns what a server sends without what it says beside it about its progress.
func objectsOf(received io.Reader, agreed *capability.List) io.Reader {
	switch {
	case agreed.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, received)
	case agreed.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, received)
	}
	return received
}

// writeObjects writes the objects that are received to a file.
func writeObjects(received io.Closer, objects io.Reader, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(err, received.Close())
	}
	_, err = io.Copy(file, objects)
	if err := errors.Join(err, received.Close(), file.Close()); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	return nil
}

// unpackObjects puts the received objects into a store, once their sizes are known to be fine.
func (o Options) unpackObjects(scratch string) (err error) {
	file, err := os.Open(filepath.Join(scratch, packName))
	if err != nil {
		return fmt.Errorf("read what was received: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := checkUnpackedSize(file, 2*o.Written); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read what was received: %w", err)
	}
	if err := packfile.UpdateObjectStorage(openStore(scratch), file); err != nil {
		return fmt.Errorf("read what was received: %w", err)
	}
	return nil
}

// objectCacheSize is how much of the objects is kept in memory.
const objectCacheSize = 16 * cache.MiByte

func openStore(scratch string) *filesystem.Storage {
	return filesystem.NewStorage(osfs.New(filepath.Join(scratch, "objects")), cache.NewObjectLRU(objectCacheSize))
}

// writeFiles writes the files of a commit.
func (o Options) writeFiles(ctx context.Context, commit plumbing.Hash, scratch string, root *os.Root) (State, error) {
	objects := openStore(scratch)
	defer func() { _ = objects.Close() }() //nolint:errcheck // it was only read from
	found, err := object.GetCommit(objects, commit)
	if err != nil {
		return State{}, fmt.Errorf("read commit %s: %w", commit, err)
	}
	tree, err := found.Tree()
	if err != nil {
		return State{}, fmt.Errorf("read the files of commit %s: %w", commit, err)
	}
	state := State{Commit: commit.String()}
	left := o.Written
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		name, entry, err := walker.Next()
		switch {
		case errors.Is(err, io.EOF):
			return state, nil
		case err != nil:
			return State{}, fmt.Errorf("list its files: %w", err)
		case ctx.Err() != nil:
			return State{}, ctx.Err()
		case entry.Mode == filemode.Submodule:
			state.Submodules = append(state.Submodules, name)
		case entry.Mode == filemode.Symlink:
			state.Links++
		case entry.Mode == filemode.Dir || !isWritable(name):
		default:
			if len(state.Files) == o.Files {
				return State{}, fmt.Errorf("%w: it has more than %d files", ErrTooLarge, o.Files)
			}
			blob, err := object.GetBlob(objects, entry.Hash)
			if err != nil {
				return State{}, fmt.Errorf("read %s: %w", name, err)
			}
			if left -= blob.Size; left < 0 {
				return State{}, fmt.Errorf("%w: its files have more than %d bytes", ErrTooLarge, o.Written)
			}
			if err := copyBlob(blob, root, name); err != nil {
				return State{}, err
			}
			state.Files = append(state.Files, name)
		}
	}
}

// isWritable reports whether a path can be a file's. A tree can hold anything.
func isWritable(name string) bool {
	return fs.ValidPath(name) && !slices.Contains(strings.Split(name, "/"), ".git") && !strings.ContainsAny(name, "\\\x00")
}

func copyBlob(blob *object.Blob, root *os.Root, name string) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	from, err := blob.Reader()
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), from.Close())
	}
	_, err = io.Copy(to, io.LimitReader(from, blob.Size))
	if err := errors.Join(err, from.Close(), to.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
