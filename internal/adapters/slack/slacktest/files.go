package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// File is an uploaded file.
type File struct {
	ID, Name, Title string
	Content         []byte

	length int
	user   string
	shared bool
}

type wireFile struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Title      string `json:"title"`
	Mimetype   string `json:"mimetype"`
	Filetype   string `json:"filetype"`
	Size       int    `json:"size"`
	Mode       string `json:"mode"`
	URLPrivate string `json:"url_private"`
	Download   string `json:"url_private_download"`
	FileAccess string `json:"file_access"`
}

func (s *Server) wireFile(file *File) wireFile {
	address := s.http.URL + "/files/" + file.ID + "/" + file.Name
	kind := strings.TrimPrefix(path.Ext(file.Name), ".")
	mimetype := map[string]string{
		"md": "text/markdown", "txt": "text/plain", "pdf": "application/pdf", "png": "image/png",
		"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	}[kind]
	return wireFile{file.ID, file.Name, file.Title, mimetype, kind, len(file.Content), "hosted", address, address, "visible"}
}

func (s *Server) uploadURL(work *request) (any, *apiError) {
	length, err := strconv.Atoi(work.args["length"])
	if err != nil || length <= 0 {
		return nil, newAPIError("invalid_arguments", "[ERROR] length must be positive")
	}
	file := &File{ID: s.nextID("F"), Name: work.args["filename"], length: length, user: work.install.bot}
	s.files[file.ID] = file
	return struct {
		UploadURL string `json:"upload_url"`
		FileID    string `json:"file_id"`
	}{s.http.URL + "/upload/" + file.ID, file.ID}, nil
}

// readUpload reads a file that is sent as a form's, or as it is.
func readUpload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return io.ReadAll(r.Body)
	}
	form, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	for {
		part, err := form.NextPart()
		if err != nil {
			return nil, err
		}
		if part.FileName() != "" {
			return io.ReadAll(part)
		}
	}
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	content, err := readUpload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.files[r.PathValue("id")]
	if file == nil || len(content) != file.length {
		http.Error(w, "the file is not of the announced length", http.StatusBadRequest)
		return
	}
	file.Content = content
	io.WriteString(w, "OK - "+strconv.Itoa(len(content))) //nolint:errcheck // the app may have hung up
}

func (s *Server) completeUpload(work *request) (any, *apiError) {
	type titled struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	listed, err := decodeStrict[[]titled](json.RawMessage(work.args["files"]))
	if err != nil || len(listed) == 0 {
		return nil, newAPIError("invalid_arguments", "[ERROR] files must list what was uploaded")
	}
	message := &Message{Channel: work.args["channel_id"], ThreadTS: work.args["thread_ts"], User: work.install.bot, Text: work.args["initial_comment"]}
	work.args["channel"] = message.Channel
	if message.Channel != "" {
		if _, refused := s.writableChannel(work, message.Channel); refused != nil {
			return nil, refused
		}
		if refused := s.checkThread(work); refused != nil {
			return nil, refused
		}
	}
	for _, item := range listed {
		file := s.files[item.ID]
		if file == nil || file.Content == nil || file.shared {
			return nil, newAPIError("file_not_found")
		}
		file.Title, file.shared = item.Title, true
		message.Files = append(message.Files, file)
	}
	if message.Channel != "" {
		s.addMessage(message)
	}
	return struct {
		Files []titled `json:"files"`
	}{listed}, nil
}

func (s *Server) fileInfo(work *request) (any, *apiError) {
	file := s.files[work.args["file"]]
	if file == nil {
		return nil, newAPIError("file_not_found")
	}
	return struct {
		File wireFile `json:"file"`
	}{s.wireFile(file)}, nil
}

// serveDownload gives a file to the app, and a sign-in page to all who bring no token.
func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	file, known := s.files[r.PathValue("id")], s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.mu.Unlock()
	switch {
	case file == nil:
		http.NotFound(w, r)
	case known == nil:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>Sign in to Slack</html>") //nolint:errcheck // the app may have hung up
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(file.Content) //nolint:errcheck // the app may have hung up
	}
}
