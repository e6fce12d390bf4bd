// Command archive packs a folder so that the same files give the same bytes, wherever and
// whenever it is run:
//
//	archive OUT FOLDER
//
// OUT ends in .tar.gz, .tgz or .zip. Entries stand in the order of their names below the folder's own
// name, belong to root, and were changed at SOURCE_DATE_EPOCH, in seconds since 1970.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: archive OUT FOLDER")
		os.Exit(2)
	}
	if err := packFolder(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

// packer writes the entries of an archive.
type packer interface {
	// add begins an entry: what is written next is its content.
	add(name string, info fs.FileInfo) (io.Writer, error)
	close() error
}

func packFolder(out, folder string) (err error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	changed := time.Unix(seconds, 0).UTC()
	var archive packer
	switch {
	case strings.HasSuffix(out, ".tar.gz"), strings.HasSuffix(out, ".tgz"):
		archive = newTarball(file, changed)
	case strings.HasSuffix(out, ".zip"):
		archive = &zipped{writer: zip.NewWriter(file), changed: changed}
	default:
		return fmt.Errorf("%s: name an archive that ends in .tar.gz, .tgz or .zip", out)
	}
	if err := addFolder(archive, folder); err != nil {
		return err
	}
	return archive.close()
}

// addFolder adds what is below a folder in the order of its names.
func addFolder(archive packer, folder string) error {
	return filepath.WalkDir(folder, func(found string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, found)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := path.Join(filepath.Base(folder), filepath.ToSlash(below))
		if !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder", found)
		}
		content, err := archive.add(name, info)
		if err != nil || info.IsDir() {
			return err
		}
		return copyFile(content, found)
	})
}

func copyFile(to io.Writer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	return errors.Join(err, file.Close())
}

// modeOf is the mode of an entry whatever the umask was that its file was made with.
func modeOf(info fs.FileInfo) fs.FileMode {
	if info.IsDir() || info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

type tarball struct {
	gzip    *gzip.Writer
	tar     *tar.Writer
	changed time.Time
}

func newTarball(out io.Writer, changed time.Time) *tarball {
	packed := gzip.NewWriter(out)
	return &tarball{gzip: packed, tar: tar.NewWriter(packed), changed: changed}
}

func (t *tarball) add(name string, info fs.FileInfo) (io.Writer, error) {
	header := &tar.Header{
		Name: name, Typeflag: tar.TypeReg, Mode: int64(modeOf(info)), Size: info.Size(),
		ModTime: t.changed, Uname: "root", Gname: "root", Format: tar.FormatPAX,
	}
	if info.IsDir() {
		header.Name, header.Typeflag, header.Size = name+"/", tar.TypeDir, 0
	}
	return t.tar, t.tar.WriteHeader(header)
}

func (t *tarball) close() error { return errors.Join(t.tar.Close(), t.gzip.Close()) }

type zipped struct {
	writer  *zip.Writer
	changed time.Time
}

func (z *zipped) add(name string, info fs.FileInfo) (io.Writer, error) {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.changed}
	header.SetMode(modeOf(info))
	if info.IsDir() {
		header.Name, header.Method = name+"/", zip.Store
		header.SetMode(fs.ModeDir | modeOf(info))
	}
	return z.writer.CreateHeader(header)
}

func (z *zipped) close() error { return z.writer.Close() }
