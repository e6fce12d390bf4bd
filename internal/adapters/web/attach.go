package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-bot/cairn/internal/adapters/web/uploads"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of a form with files.
const (
	maxParts    = 200 // fields and files
	maxFileName = 200 // letters
	uploadTime  = 2 * time.Minute
	// maxUploads is how many forms with files are read at the same time: each holds one file in memory.
	maxUploads = 4
)

// fileField is the form field that holds files, againField the one with the id of the exchange whose
// files are sent again.
const (
	fileField  = "file"
	againField = "files"
)

// attacher reads the files that people attach to messages.
type attacher struct{ web *Web }

// attachView is what a page tells of the files that can be attached.
type attachView struct {
	MaxFiles         int
	MaxFile, MaxSize int64 // bytes: of one, and of all of a message
}

// fileView is a file of a message.
type fileView struct{ Name, Size string }

func (a attacher) view() *attachView {
	if a.web.options.Uploads == nil {
		return nil
	}
	return &attachView{MaxFiles: chat.MaxFiles, MaxFile: uploads.MaxFile, MaxSize: uploads.MaxMessage}
}

func fileViews(files []chat.File) []fileView {
	var views []fileView
	for _, file := range files {
		views = append(views, fileView{markup.CleanLine(file.Name), markup.Size(int(file.Size))})
	}
	return views
}

// fileNames names the files of a message on one line.
func fileNames(files []chat.File) string {
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = file.Name
	}
	return strings.Join(names, ", ")
}

// formError is why a form with files can't be used, as people may read it.
type formError struct {
	status int
	text   string
}

func (r *formError) Error() string { return r.text }

// readForm reads the form of a message into the request, keeps its files, and gives them. It answers
// why a form can't be read, and keeps nothing of that.
func (a attacher) readForm(out http.ResponseWriter, request *http.Request, in visit) (files []chat.File, ok bool) {
	if mediaType(request) != "multipart/form-data" || a.web.options.Uploads == nil {
		if !a.web.responder.parseForm(out, request) {
			return nil, false
		}
		return in.thread.filesAgain(in.person, request.PostForm.Get(againField)), true
	}
	if !in.canWrite() {
		a.web.responder.refuseForm(out, request, errNotYours)
		return nil, false
	}
	files, err := a.readParts(out, request, in)
	if err == nil {
		return files, true
	}
	a.removeFiles(request.Context(), in, files)
	refused, isRefused := errors.AsType[*formError](err)
	_, tooLong := errors.AsType[*http.MaxBytesError](err)
	switch {
	case isRefused:
		a.web.responder.renderFailure(out, request, refused.status, refused.text)
	case tooLong:
		a.web.responder.renderFailure(out, request, http.StatusRequestEntityTooLarge, manyBytes)
	default:
		a.web.responder.refuseForm(out, request, err)
	}
	return nil, false
}

var (
	manyBytes = fmt.Sprintf("The files are larger than %s together. Send fewer of them at a time.", markup.Size(uploads.MaxMessage))
	manyFiles = fmt.Sprintf("A message can have %d files. Send the others with another one.", chat.MaxFiles)
)

// readParts reads a form part by part. The files that it gives with an error are kept already.
func (a attacher) readParts(out http.ResponseWriter, request *http.Request, in visit) (files []chat.File, err error) {
	select {
	case a.web.uploading <- struct{}{}:
		defer func() { <-a.web.uploading }()
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	control := http.NewResponseController(out)
	if err := errors.Join(control.SetReadDeadline(time.Now().Add(uploadTime)), control.SetWriteDeadline(time.Now().Add(uploadTime+writeTime))); err != nil {
		return nil, fmt.Errorf("allow time for files: %w", err)
	}
	request.Body = http.MaxBytesReader(out, request.Body, uploads.MaxMessage+maxForm)
	reader, err := request.MultipartReader()
	if err != nil {
		return nil, &formError{http.StatusBadRequest, brokenForm}
	}
	request.PostForm = make(url.Values)
	room := int64(uploads.MaxMessage)
	for range maxParts {
		part, err := reader.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return files, brokenPart(err)
		case part.FormName() == fileField && part.FileName() != "":
			if len(files) == chat.MaxFiles {
				return files, &formError{http.StatusRequestEntityTooLarge, manyFiles}
			}
			file, err := a.keepPart(request.Context(), in, part, room)
			if err != nil {
				return files, err
			}
			room -= file.Size
			files = append(files, file)
		case part.FormName() != fileField:
			value, err := readPart(part, maxMessage)
			if errors.Is(err, errLongPart) {
				err = &formError{http.StatusRequestEntityTooLarge, longMessage}
			}
			if err != nil {
				return files, err
			}
			request.PostForm.Add(part.FormName(), string(value))
		}
	}
	return files, &formError{http.StatusBadRequest, brokenForm}
}

// keepPart keeps one file of a form, of at most room bytes.
func (a attacher) keepPart(ctx context.Context, in visit, part *multipart.Part, room int64) (chat.File, error) {
	file := chat.File{ID: uploads.NewID(), Name: fileName(part.FileName()), MediaType: shorten.Head(markup.CleanLine(part.Header.Get("Content-Type")), maxFileName)}
	content, err := readPart(part, uploads.MaxFile)
	switch {
	case errors.Is(err, errLongPart):
		return file, &formError{http.StatusRequestEntityTooLarge, fmt.Sprintf("%s is larger than %s. Send a smaller file, or a part of it.", file.Name, markup.Size(uploads.MaxFile))}
	case err != nil:
		return file, err
	case len(content) == 0:
		return file, &formError{http.StatusBadRequest, file.Name + " is empty, or it is a folder. Send files with something in them."}
	case int64(len(content)) > room:
		return file, &formError{http.StatusRequestEntityTooLarge, manyBytes}
	}
	file.Size = int64(len(content))
	return file, a.web.options.Uploads.Keep(ctx, chatID(in.thread.id), in.person, file, content)
}

var errLongPart = errors.New("a part of the form is too long")

// readPart reads a part of a form, of at most limit bytes.
func readPart(part *multipart.Part, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return nil, brokenPart(err)
	}
	if int64(len(content)) > limit {
		return nil, errLongPart
	}
	return content, nil
}

// brokenPart tells what is wrong where a form ends before its time.
func brokenPart(err error) error {
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return err
	}
	return &formError{http.StatusBadRequest, "The files did not arrive whole. Send them again."}
}

// removeFiles removes files of a message that was not accepted.
func (a attacher) removeFiles(ctx context.Context, in visit, files []chat.File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	for _, file := range files {
		if err := a.web.options.Uploads.Remove(ctx, chatID(in.thread.id), file.ID); err != nil {
			a.web.options.Logger.Error("remove a file that was not accepted", "file", file.ID, "error", err)
		}
	}
}

// fileName is the name of a file as it is shown: without its folder, and with nothing that can't be
// printed.
func fileName(sent string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(sent, "\uFFFD"), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if name = strings.TrimSpace(name); name == "" || name == "." || name == "/" {
		return "file"
	}
	if ending := path.Ext(name); len(ending) < maxFileName/2 && len([]rune(name)) > maxFileName {
		return shorten.Head(strings.TrimSuffix(name, ending), maxFileName-len(ending)) + ending
	}
	return shorten.Head(name, maxFileName)
}

// filesAgain gives the files of a message, by the id of its element, that its author sends again.
func (t *thread) filesAgain(by chat.UserID, id string) []chat.File {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if id != "" && domID(e.id) == id && t.owner == by {
			return e.files
		}
	}
	return nil
}
