package drive_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge/connect/drive"
)

type object = map[string]any

const (
	rootID   = "0ARootOfTheSource"
	googleIs = "application/vnd.google-apps."
	account  = "cairn@project.iam.gserviceaccount.com"
)

// signer is the private key of the service account.
var signer = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// item is a file or a folder of the stand-in.
type item struct {
	id, name, kind, parent string
	content                string
	exports                map[string]string // of a document of Google, by the media types
	version                int
	trashed                bool
	forgotten              bool // the list does not have it
	owner                  string
}

// fake is a strict stand-in for version 3 of Drive's API, and for the server of access tokens: it takes
// the methods and parameters that the discovery document has and that are used, and gives the fields
// that are asked for alone.
type fake struct {
	t      testing.TB
	server *httptest.Server

	mu         sync.Mutex
	items      []*item
	size       int // files of one response
	asked      []string
	tokens     int
	incomplete bool
	// refuse answers a path in place of the usual answer where its status is not 0; nil never does.
	refuse func(path string, query url.Values) (status int, reason string, header http.Header)
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, size: 2}
	f.items = []*item{{id: rootID, name: "Handbook", kind: googleIs + "folder"}}
	f.server = httptest.NewTLSServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.server.Close)
	return f
}

// key gives the JSON key of the service account, with the address of the server of tokens.
func (f *fake) key(tokenURL string) string {
	der, err := x509.MarshalPKCS8PrivateKey(signer())
	if err != nil {
		f.t.Fatal(err)
	}
	key, err := json.Marshal(object{
		"type": "service_account", "project_id": "project", "private_key_id": "key1", "client_email": account, "client_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURL,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return string(key)
}

func (f *fake) options() drive.Options {
	pool := x509.NewCertPool()
	pool.AddCert(f.server.Certificate())
	return drive.Options{
		Source: "papers", URL: f.server.URL + "/drive/folders/" + rootID, Key: f.key(f.server.URL + "/token"), AllowPrivate: true,
		TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, Audience: "group:staff",
	}
}

func (f *fake) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

func (f *fake) find(id string) *item {
	if at := slices.IndexFunc(f.items, func(one *item) bool { return one.id == id }); at >= 0 {
		return f.items[at]
	}
	return nil
}

// put makes or replaces a file or a folder.
func (f *fake) put(made item) *item {
	f.mu.Lock()
	defer f.mu.Unlock()
	if made.parent == "" {
		made.parent = rootID
	}
	if before := f.find(made.id); before != nil {
		made.version = before.version + 1
		*before = made
		return before
	}
	f.items = append(f.items, &made)
	return &made
}

func (f *fake) folder(id, name, parent string) {
	f.put(item{id: id, name: name, kind: googleIs + "folder", parent: parent})
}

func (f *fake) remove(id string) {
	f.change(func() { f.items = slices.DeleteFunc(f.items, func(one *item) bool { return one.id == id }) })
}

func (f *fake) answer(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, query := r.URL.Path, r.URL.Query()
	f.asked = append(f.asked, path)
	if f.refuse != nil {
		if status, reason, header := f.refuse(path, query); status != 0 {
			for key, values := range header {
				w.Header()[key] = values
			}
			f.fail(w, status, reason)
			return
		}
	}
	if path == "/token" {
		f.giveToken(w, r)
		return
	}
	if r.Header.Get("Authorization") != fmt.Sprintf("Bearer ya29.%d", f.tokens) {
		f.fail(w, http.StatusUnauthorized, "authError")
		return
	}
	local, ok := strings.CutPrefix(path, "/drive/v3/files")
	if !ok || r.Method != http.MethodGet {
		f.t.Errorf("there is no method %s %s", r.Method, path)
	}
	parts := strings.Split(strings.Trim(local, "/"), "/")
	switch {
	case local == "":
		f.checkParameters(query, "q", "pageSize", "pageToken", "supportsAllDrives", "includeItemsFromAllDrives", "fields")
		f.list(w, query)
	case len(parts) == 2 && parts[1] == "export":
		f.checkParameters(query, "mimeType")
		f.export(w, parts[0], query.Get("mimeType"))
	case len(parts) == 1:
		f.checkParameters(query, "supportsAllDrives", "fields", "alt")
		f.give(w, parts[0], query)
	default:
		f.t.Errorf("there is no method %s %s", r.Method, path)
	}
}

// checkParameters checks the parameters of a request.
func (f *fake) checkParameters(query url.Values, allowed ...string) {
	for name, values := range query {
		if !slices.Contains(allowed, name) || len(values) != 1 || values[0] == "" {
			f.t.Errorf("the parameter %s=%q", name, values)
		}
	}
	for _, name := range []string{"supportsAllDrives", "includeItemsFromAllDrives"} {
		if slices.Contains(allowed, name) && query.Get(name) != "true" {
			f.t.Errorf("without %s what is in shared drives is missing", name)
		}
	}
}

func (f *fake) write(w http.ResponseWriter, status int, made any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(made); err != nil {
		f.t.Error(err)
	}
}

// fail answers with an error as Google's APIs give them.
func (f *fake) fail(w http.ResponseWriter, status int, reason string) {
	f.write(w, status, object{"error": object{"code": status, "message": reason, "errors": []object{{"domain": "global", "reason": reason, "message": reason}}}})
}

// giveToken checks the assertion of the service account, and gives a token for it.
func (f *fake) giveToken(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		f.t.Errorf("a request for a token: %s %v", r.Method, r.PostForm)
	}
	parts := strings.Split(r.PostFormValue("assertion"), ".")
	if len(parts) != 3 {
		f.t.Errorf("an assertion of %d parts", len(parts))
		return
	}
	var claims struct {
		Issuer   string `json:"iss"`
		Scope    string `json:"scope"`
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
	}
	read, _ := base64.RawURLEncoding.DecodeString(parts[1])      //nolint:errcheck // the signature tells
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2]) //nolint:errcheck // as above
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&signer().PublicKey, crypto.SHA256, sum[:], signature); err != nil {
		f.t.Error(err)
	}
	if err := json.Unmarshal(read, &claims); err != nil || claims.Issuer != account || claims.Audience != f.server.URL+"/token" ||
		claims.Scope != "https://www.googleapis.com/auth/drive.readonly" || claims.Expires < time.Now().Unix() {
		f.t.Errorf("%v, the claims %+v", err, claims)
	}
	f.tokens++
	f.write(w, http.StatusOK, object{"access_token": fmt.Sprintf("ya29.%d", f.tokens), "token_type": "Bearer", "expires_in": 3599})
}

var folderQuery = regexp.MustCompile(`^'([A-Za-z0-9_-]+)' in parents and trashed = false$`)

func (f *fake) list(w http.ResponseWriter, query url.Values) {
	wanted := folderQuery.FindStringSubmatch(query.Get("q"))
	fields, ok := strings.CutPrefix(query.Get("fields"), "nextPageToken,incompleteSearch,files(")
	if wanted == nil || !ok || query.Get("pageSize") != "1000" {
		f.t.Errorf("a list of %v", query)
		return
	}
	fields = strings.TrimSuffix(fields, ")")
	files := []object{}
	for _, one := range f.items {
		if one.parent == wanted[1] && !one.trashed && !one.forgotten {
			files = append(files, f.object(one, fields))
		}
	}
	start, _ := strconv.Atoi(query.Get("pageToken")) //nolint:errcheck // 0 then
	end := min(start+f.size, len(files))
	made := object{"incompleteSearch": f.incomplete, "files": files[min(start, end):end]}
	if end < len(files) {
		made["nextPageToken"] = strconv.Itoa(end)
	}
	f.write(w, http.StatusOK, made)
}

// object gives the fields of a file that are asked for.
func (f *fake) object(one *item, fields string) object {
	sum := sha256.Sum256([]byte(one.content))
	all := object{
		"id": one.id, "name": one.name, "mimeType": one.kind, "version": strconv.Itoa(one.version + 1), "trashed": one.trashed,
		"modifiedTime": time.Date(2026, 5, 1, 12, one.version, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"), "webViewLink": "https://drive.google.com/file/d/" + one.id + "/view?usp=drivesdk",
	}
	if one.parent != "" {
		all["parents"] = []string{one.parent}
	}
	if one.owner != "" {
		all["owners"] = []object{{"displayName": one.owner}}
	}
	if !strings.HasPrefix(one.kind, googleIs) {
		all["md5Checksum"], all["size"] = fmt.Sprintf("%x", sum[:16]), strconv.Itoa(len(one.content))
	}
	made := object{}
	for _, name := range strings.Split(strings.Replace(fields, "owners(displayName)", "owners", 1), ",") {
		if !slices.Contains([]string{"id", "name", "mimeType", "modifiedTime", "version", "size", "md5Checksum", "webViewLink", "trashed", "parents", "owners"}, name) {
			f.t.Errorf("the field %q", name)
		}
		if value, ok := all[name]; ok {
			made[name] = value
		}
	}
	return made
}

func (f *fake) give(w http.ResponseWriter, id string, query url.Values) {
	one := f.find(id)
	switch {
	case one == nil:
		f.fail(w, http.StatusNotFound, "notFound")
	case query.Get("alt") == "":
		f.write(w, http.StatusOK, f.object(one, query.Get("fields")))
	case query.Get("alt") != "media" || query.Has("fields"):
		f.t.Errorf("a file with %v", query)
	case strings.HasPrefix(one.kind, googleIs):
		f.fail(w, http.StatusForbidden, "fileNotDownloadable")
	default:
		w.Header().Set("Content-Type", one.kind)
		if _, err := w.Write([]byte(one.content)); err != nil {
			f.t.Error(err)
		}
	}
}

func (f *fake) export(w http.ResponseWriter, id, mediaType string) {
	one := f.find(id)
	if one == nil {
		f.fail(w, http.StatusNotFound, "notFound")
		return
	}
	content, ok := one.exports[mediaType]
	if !ok {
		f.fail(w, http.StatusBadRequest, "badRequest")
		return
	}
	w.Header().Set("Content-Type", mediaType)
	if _, err := w.Write([]byte(content)); err != nil {
		f.t.Error(err)
	}
}
