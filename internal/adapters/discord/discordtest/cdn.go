package discordtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// file is a file on the CDN.
type file struct {
	upload
	gone bool
}

// storeFile stores a file of a message and gives it as an attachment, under Discord's own
// address: Client brings requests for it here.
func (s *Server) storeFile(channelID string, came upload, described string) Attachment {
	id := s.newSnowflake()
	s.files[id] = &file{upload: came}
	return Attachment{
		ID: id, Name: came.name, Media: came.media, Description: described, Size: len(came.content),
		URL: fmt.Sprintf("https://cdn.discordapp.com/attachments/%s/%s/%s?ex=0", channelID, id, url.PathEscape(came.name)),
	}
}

// Expire has the address of an attachment lead nowhere, as Discord's do after a day.
func (s *Server) Expire(attachment string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[attachment].gone = true
}

// Content returns the bytes of an attachment; nil where there is none.
func (s *Server) Content(attachment string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.files[attachment]; found != nil {
		return found.content
	}
	return nil
}

func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	found := s.files[r.PathValue("id")]
	s.mu.Unlock()
	if found == nil || found.gone || found.name != r.PathValue("name") {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	if found.media != "" {
		w.Header().Set("Content-Type", found.media)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(found.content)))
	if _, err := w.Write(found.content); err != nil {
		return // the app hung up: nobody is left to tell
	}
}
