package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var errForeignHost = errors.New("this host is not Discord's")

const (
	maxUpload = 10 << 20 // of one file, as interactions tell it
	maxBody   = 25 << 20 // of a request
)

// Request is one request of the app's.
type Request struct {
	Method string
	Path   string // without /api/v10, with the query
	Route  string // the method and the pattern of the path, as Fail takes it
	Body   json.RawMessage
	Files  []string // names of files that came along
	Status int
	Code   Code // of the error, 0 where there is none
	At     time.Time
	Reason string // what was wrong, as JSON
}

// request is a request in work.
type request struct {
	*http.Request
	is    route
	body  json.RawMessage
	files map[int]upload
	reply http.Header
}

// upload is a file that came with a request.
type upload struct {
	name, media string
	content     []byte
}

var apiVersion = regexp.MustCompile(`^/api/v(9|10)/`)

// versionHandler serves v9 and v10 alike, as far as this server knows them, and says in
// Discord's words what is not there.
func (s *Server) versionHandler(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = apiVersion.ReplaceAllString(r.URL.Path, "/api/")
		_, pattern := mux.Handler(r)
		if pattern == "" {
			refused := newRefusal(notFound, codeGeneral)
			s.recordRequest(&request{Request: r}, notFound, refused)
			writeAnswer(w, notFound, refused)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// serveRoute answers the requests of one route.
func (s *Server) serveRoute(is route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work := &request{Request: r, is: is, reply: w.Header()}
		fault := s.takeFault(is.routeName())
		result, refused := s.performWith(work, fault) //nolint:contextcheck // a request that is carried out late outlives its caller
		if fault != nil && !fault.isSlow() {
			s.applyFault(w, work, *fault)
			return
		}
		switch {
		case refused != nil:
			s.recordRequest(work, refused.Status, refused)
			refused.writeResponse(w)
		case result == nil:
			s.recordRequest(work, http.StatusNoContent, nil)
			w.WriteHeader(http.StatusNoContent)
		default:
			status := http.StatusOK
			if is.status != 0 {
				status = is.status
			}
			s.recordRequest(work, status, nil)
			writeAnswer(w, status, result)
		}
	})
}

// performRequest checks a request and carries it out.
func (s *Server) performRequest(work *request) (any, *refusal) {
	if refused := work.readBody(); refused != nil {
		return nil, refused
	}
	return s.runRequest(work)
}

// runRequest carries a request out whose body was read.
func (s *Server) runRequest(work *request) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.signalChange()
	if refused := s.checkRequest(work); refused != nil {
		return nil, refused
	}
	if work.is.free {
		s.mu.Unlock()
		defer s.mu.Lock()
	}
	return work.is.run(s, work)
}

// checkRequest refuses what is wrong whatever the route does.
func (s *Server) checkRequest(work *request) *refusal {
	if refused := s.limits.countRequest(work, s.now()); refused != nil {
		return refused
	}
	if !work.is.anyone && work.Header.Get("Authorization") != "Bot "+Token {
		return newRefusal(http.StatusUnauthorized, codeGeneral)
	}
	if work.is.schema != "" {
		return checkSchema(work.is.schema, work.body)
	}
	return nil
}

// readBody takes the body apart.
func (r *request) readBody() *refusal {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return newFieldError("_", "CONTENT_TYPE_INVALID", err.Error())
	}
	body := http.MaxBytesReader(nil, r.Body, maxBody)
	if media == "multipart/form-data" {
		return r.readParts(multipart.NewReader(body, params["boundary"]))
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return newRefusal(http.StatusRequestEntityTooLarge, codeTooLarge)
	}
	if len(raw) > 0 && media != "application/json" {
		return newFieldError("_", "CONTENT_TYPE_INVALID", `Expected "Content-Type" header to be one of {'application/json', 'multipart/form-data'}.`)
	}
	if len(raw) > 0 && !json.Valid(raw) {
		return newRefusal(badRequest, codeInvalidJSON)
	}
	r.body = raw
	if len(raw) == 0 && r.is.schema != "" {
		r.body = json.RawMessage("{}") // what stands for no body is checked like one
	}
	return nil
}

var filePart = regexp.MustCompile(`^files\[(\d{1,2})\]$`)

// readParts reads a form of payload_json and files.
func (r *request) readParts(parts *multipart.Reader) *refusal {
	r.body, r.files = json.RawMessage("{}"), map[int]upload{}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return newFieldError("_", "MULTIPART_INVALID", err.Error())
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return newRefusal(http.StatusRequestEntityTooLarge, codeTooLarge)
		}
		numbered := filePart.FindStringSubmatch(part.FormName())
		switch {
		case part.FormName() == "payload_json":
			if !json.Valid(content) {
				return newRefusal(badRequest, codeInvalidJSON)
			}
			r.body = content
		case numbered != nil:
			n, err := strconv.Atoi(numbered[1])
			if err != nil || part.FileName() == "" {
				return newFieldError(part.FormName(), "FILE_INVALID", "A file needs a name.")
			}
			if len(content) > maxUpload {
				return newRefusal(http.StatusRequestEntityTooLarge, codeTooLarge)
			}
			r.files[n] = upload{part.FileName(), part.Header.Get("Content-Type"), content}
		default:
			return newFieldError(part.FormName(), "UNKNOWN_PART", "Only payload_json and files[n] are taken.")
		}
	}
	return nil
}

// decode reads a body that has passed its schema.
func decode[T any](body json.RawMessage) (T, *refusal) {
	var value T
	if err := json.Unmarshal(body, &value); err != nil {
		return value, newFieldError("_", "BASE_TYPE_INVALID", err.Error())
	}
	return value, nil
}

// queryInt reads a number of the query; missing is without where it is not given.
func (r *request) queryInt(name string, least, most, without int) (int, *refusal) {
	given := r.URL.Query().Get(name)
	if given == "" {
		return without, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < least || n > most {
		return 0, newFieldError(name, "NUMBER_TYPE_RANGE", fmt.Sprintf("Value %q must be between %d and %d.", given, least, most))
	}
	return n, nil
}

func (s *Server) recordRequest(work *request, status int, refused *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := Request{
		Method: work.Method, Path: strings.TrimPrefix(work.URL.RequestURI(), "/api"), Route: work.is.routeName(),
		Body: work.body, Status: status, At: s.now(),
	}
	for n := range 100 {
		if file, ok := work.files[n]; ok {
			done.Files = append(done.Files, file.name)
		}
	}
	if refused != nil {
		done.Code, done.Reason = refused.Code, string(mustJSON(refused))
	}
	s.limits.countInvalid(refused, s.now())
	s.requests = append(s.requests, done)
	s.signalChange()
}

// Requests returns the requests of a route, such as "POST /channels/{channel}/messages", or
// all for "", in the order in which they were answered.
func (s *Server) Requests(route string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Request
	for _, done := range s.requests {
		if route == "" || done.Route == route {
			found = append(found, done)
		}
	}
	return found
}

// Refused returns the requests that were answered by an error, those of faults and rate
// limits left out: what remains is the app's own doing.
func (s *Server) Refused() []Request {
	var found []Request
	for _, done := range s.Requests("") {
		if done.Status >= 400 && done.Status != http.StatusTooManyRequests && done.Reason != faultReason {
			found = append(found, done)
		}
	}
	return found
}

// InvalidRequests returns how many requests of the last 10 minutes were answered by 401, 403
// or 429: at 10,000 Discord bans the address.
func (s *Server) InvalidRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits.invalidIn(invalidFor, s.now())
}

func writeAnswer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The app may have hung up; then nobody is left to tell.
	fmt.Fprintf(w, "%s\n", mustJSON(value))
}

func mustJSON(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("discordtest: encode: " + err.Error())
	}
	return raw
}
