package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

type object = map[string]any

// twoDocuments is a place with two documents, of which the first may be deleted: what the program needs
// of the API of a platform, and no more. The packages of the connectors have strict stand-ins.
type twoDocuments struct {
	kind, path string // of the source, and the path of its address
	settings   string // of the source besides
	link       string // to the first document
	// answer gives the answer to a request, nil for 404; there says which documents are there.
	answer func(base string, r *http.Request, there []bool) any
}

var texts = []string{"The pump of the plant runs at 70 bar.", "The kettle of the plant is cleaned on Fridays."}

// remaining gives what is made of the documents that are there.
func remaining(there []bool, describe func(at int) object) []object {
	made := []object{}
	for at, is := range there {
		if is {
			made = append(made, describe(at))
		}
	}
	return made
}

const edited = "2026-05-01T12:00:00.000Z"

// confluencePages is a space whose pages ada may read.
func confluencePages() twoDocuments {
	page := func(at int) object {
		none := object{"results": []object{}, "start": 0, "limit": 200, "size": 0}
		return object{
			"id": fmt.Sprint(at + 1), "type": "page", "status": "current", "title": fmt.Sprint("Page ", at+1), "space": object{"id": 7, "key": "ENG", "name": "Engineering"},
			"version": object{"number": 1, "when": edited}, "history": object{"createdBy": object{"accountId": "ada", "displayName": "Ada"}}, "ancestors": []object{},
			"restrictions": object{"read": object{"restrictions": object{"user": none, "group": none}}}, "_links": object{"webui": fmt.Sprint("/spaces/ENG/pages/", at+1)},
		}
	}
	return twoDocuments{
		kind: "confluence", path: "/wiki/spaces/ENG", link: "/wiki/spaces/ENG/pages/1",
		answer: func(base string, r *http.Request, there []bool) any {
			switch path := strings.TrimPrefix(r.URL.Path, "/wiki"); path {
			case "/api/v2/spaces":
				return object{"results": []object{{"id": "7", "key": "ENG", "name": "Engineering", "type": "global", "status": "current"}}, "_links": object{"base": base + "/wiki"}}
			case "/api/v2/spaces/7/permissions":
				reader := object{"id": "1", "principal": object{"type": "user", "id": "ada"}, "operation": object{"key": "read", "targetType": "space"}}
				return object{"results": []object{reader}, "_links": object{"base": base + "/wiki"}}
			case "/rest/api/content/search":
				found := remaining(there, page)
				return object{"results": found, "start": 0, "limit": 200, "size": len(found), "_links": object{"base": base + "/wiki"}}
			case "/rest/api/user/bulk":
				return object{"results": []object{{"type": "known", "accountId": "ada", "email": "ada@example.com"}}, "start": 0, "limit": 100, "size": 1}
			default:
				for at, is := range there {
					if id := fmt.Sprint(at + 1); is && path == "/api/v2/pages/"+id {
						return object{"id": id, "status": "current", "title": page(at)["title"], "spaceId": "7", "body": object{"storage": object{"representation": "storage", "value": "<p>" + texts[at] + "</p>"}}}
					} else if is && path == "/rest/api/content/"+id {
						return page(at)
					}
				}
				return nil
			}
		},
	}
}

// jiraIssues is a project whose issues ada may browse.
func jiraIssues() twoDocuments {
	const when = "2026-05-01T12:00:00.000+0000"
	user := object{"accountId": "ada", "accountType": "atlassian", "active": true, "displayName": "Ada", "emailAddress": "ada@example.com", "timeZone": "Europe/Berlin"}
	issue := func(at int) object {
		return object{"id": fmt.Sprint(10011 + at), "key": fmt.Sprint("ENG-", at+1), "fields": object{
			"summary": fmt.Sprint("Issue ", at+1), "updated": when, "created": when, "project": object{"id": "1", "key": "ENG", "name": "Engineering"}, "security": nil,
			"issuerestriction": object{"issuerestrictions": object{}, "shouldDisplay": false}, "assignee": user, "status": object{"id": "3", "name": "Open"},
			"issuetype": object{"id": "10", "name": "Bug"}, "labels": []string{}, "duedate": nil, "resolution": nil, "resolutiondate": nil,
			"description": object{"type": "doc", "version": 1, "content": []object{{"type": "paragraph", "content": []object{{"type": "text", "text": texts[at]}}}}},
		}}
	}
	return twoDocuments{
		kind: "jira", path: "/projects/ENG", link: "/browse/ENG-1",
		answer: func(_ string, r *http.Request, there []bool) any {
			switch path := strings.TrimPrefix(r.URL.Path, "/rest/api/3"); path {
			case "/myself":
				return user
			case "/project/search":
				return object{"startAt": 0, "maxResults": 50, "total": 1, "isLast": true, "values": []object{{"id": "1", "key": "ENG", "name": "Engineering", "style": "classic"}}}
			case "/search/jql":
				return object{"issues": remaining(there, issue), "isLast": true}
			case "/user/permission/search":
				return []object{user}
			default:
				for at, is := range there {
					id, key := fmt.Sprint("/issue/", 10011+at), fmt.Sprint("/issue/ENG-", at+1)
					switch {
					case is && (path == id || path == key):
						return issue(at)
					case is && (path == id+"/comment" || path == key+"/comment"):
						return object{"startAt": 0, "maxResults": 50, "total": 0, "comments": []object{}}
					}
				}
				return nil
			}
		},
	}
}

// notionPages are pages that are shared with an integration, for the group staff.
func notionPages() twoDocuments {
	id := func(at int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", at+1) }
	rich := func(text string) []object {
		return []object{{"type": "text", "text": object{"content": text}, "annotations": object{}, "plain_text": text, "href": nil}}
	}
	page := func(at int) object {
		return object{
			"object": "page", "id": id(at), "created_time": edited, "last_edited_time": edited, "parent": object{"type": "workspace", "workspace": true},
			"archived": false, "in_trash": false, "url": "https://www.notion.so/Page-" + strings.ReplaceAll(id(at), "-", ""),
			"properties": object{"Name": object{"id": "title", "type": "title", "title": rich(fmt.Sprint("Page ", at+1))}},
		}
	}
	list := func(kind string, results []object) object {
		return object{"object": "list", "results": results, "type": kind, "has_more": false, "next_cursor": nil}
	}
	return twoDocuments{
		kind: "notion", settings: `audience: ["group:staff"]`, link: "https://www.notion.so/Page-00000000000040008000000000000001",
		answer: func(_ string, r *http.Request, there []bool) any {
			if r.URL.Path == "/v1/search" {
				return list("page_or_data_source", remaining(there, page))
			}
			for at, is := range there {
				switch {
				case is && r.URL.Path == "/v1/pages/"+id(at):
					return page(at)
				case is && r.URL.Path == "/v1/blocks/"+id(at)+"/children":
					block := object{"object": "block", "id": id(at + 10), "created_time": edited, "last_edited_time": edited, "has_children": false, "type": "paragraph"}
					block["paragraph"] = object{"rich_text": rich(texts[at]), "color": "default"}
					return list("block", []object{block})
				}
			}
			return nil
		},
	}
}

// driveFiles are text files in a folder that is shared with a service account, for the group staff.
func driveFiles() twoDocuments {
	const root = "0ARootOfTheSource"
	file := func(at int) object {
		return object{
			"id": fmt.Sprint("file", at+1), "name": fmt.Sprint("File ", at+1, ".txt"), "mimeType": "text/plain", "version": "1", "trashed": false, "modifiedTime": edited,
			"webViewLink": fmt.Sprint("https://drive.google.com/file/d/file", at+1, "/view"), "parents": []string{root}, "size": fmt.Sprint(len(texts[at])), "md5Checksum": "d41d8cd98f00b204e9800998ecf8427e",
		}
	}
	return twoDocuments{
		kind: "drive", path: "/drive/folders/" + root, settings: `audience: ["group:staff"]`, link: "https://drive.google.com/file/d/file1/view",
		answer: func(_ string, r *http.Request, there []bool) any {
			switch r.URL.Path {
			case "/token":
				return object{"access_token": "ya29.1", "token_type": "Bearer", "expires_in": 3599}
			case "/drive/v3/files":
				return object{"incompleteSearch": false, "files": remaining(there, file)}
			case "/drive/v3/files/" + root:
				return object{"id": root, "name": "Handbook", "mimeType": "application/vnd.google-apps.folder", "version": "1", "modifiedTime": edited, "trashed": false}
			}
			for at, is := range there {
				if is && r.URL.Path == fmt.Sprint("/drive/v3/files/file", at+1) {
					if r.URL.Query().Get("alt") == "media" {
						return texts[at]
					}
					return file(at)
				}
			}
			return nil
		},
	}
}

// serviceKey is the JSON key of a service account whose tokens come from an address.
func serviceKey(t *testing.T, tokens string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := json.Marshal(object{
		"type": "service_account", "private_key_id": "key1", "client_email": "cairn@project.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokens,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(made)
}

// platformSource is the real program with one source.
type platformSource struct {
	program
	mu     sync.Mutex
	there  []bool
	status int // of all answers, 0: as usual
	header http.Header
}

func newPlatformSource(t *testing.T, place twoDocuments) *platformSource {
	p := &platformSource{there: []bool{true, true}}
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for key, values := range p.header {
			w.Header()[key] = values
		}
		if p.status != 0 {
			w.WriteHeader(p.status)
			return
		}
		switch made := place.answer(server.URL, r, p.there).(type) {
		case nil:
			http.NotFound(w, r)
		case string:
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte(made)) //nolint:errcheck // the program has gone
		default:
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(made); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	key := "bot@example.com:token"
	if place.kind == "drive" {
		key = serviceKey(t, server.URL+"/token")
	}
	certificate := write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	settings := fmt.Sprintf("data_dir: %s/data\naccess:\n  groups: [\"staff=user:ada@example.com\"]\nsources:\n  - name: place\n    kind: %s\n    url: %q\n    private_network: true\n    key_file: %s\n    every: 24h\n",
		folder, place.kind, server.URL+place.path, write("key", key))
	if place.settings != "" {
		settings += "    " + place.settings + "\n"
	}
	p.program = program{t: t, env: append(os.Environ(), "HOME="+folder, "CAIRN_CONFIG="+write("cairn.yaml", settings), "SSL_CERT_FILE="+certificate)}
	return p
}

// change changes what the place has, or how it answers.
func (p *platformSource) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// run runs a command and wants texts in what it prints; those that begin with "!" it does not want.
func (p *platformSource) run(fails bool, args []string, want ...string) {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if (err != nil) != fails {
		p.t.Errorf("%v: %v\n%s", args, err, out)
	}
	for _, text := range want {
		unwanted, isUnwanted := strings.CutPrefix(text, "!")
		if strings.Contains(string(out), unwanted) == isUnwanted {
			p.t.Errorf("%v: want %q in\n%s", args, text, out)
		}
	}
}

// TestSourcesOfPlatformsFromTheirSettingsToTheirAnswers reads the places that teams have with the real
// program: it answers from them for those who may read them, and not any more from what was deleted.
func TestSourcesOfPlatformsFromTheirSettingsToTheirAnswers(t *testing.T) {
	t.Parallel()
	for _, place := range []twoDocuments{confluencePages(), jiraIssues(), notionPages(), driveFiles()} {
		t.Run(place.kind, func(t *testing.T) {
			t.Parallel()
			p := newPlatformSource(t, place)
			sync := []string{"sources", "sync"}
			ask := func(person, question string) []string { return []string{"ask", "--as", person, question} }
			const pump, kettle = "at how many bar does the pump run?", "when is the kettle cleaned?"
			p.run(false, []string{"sources", "list"}, "place", place.kind, "never")
			p.run(false, sync, "2 documents added")
			p.run(false, []string{"sources", "list"}, "hours from now")
			p.run(false, ask("ada@example.com", pump), "70 bar", place.link)
			p.run(false, ask("ada@example.com", kettle), "Fridays")
			p.run(false, ask("mallory@example.com", pump), "!70 bar", "!"+place.link)

			// A place in trouble is told of, and nothing is lost.
			for status, want := range map[int]string{401: "", 403: "", 404: "", 500: "status 500", 302: ""} {
				p.change(func() { p.status, p.header = status, http.Header{"Location": {"http://169.254.169.254/"}} })
				p.run(true, sync, want, "!documents removed")
			}
			p.change(func() { p.status, p.header = 429, http.Header{"Retry-After": {"3600"}} })
			p.run(true, sync, "asked again in 1h0m0s")
			p.run(false, []string{"sources", "list"}, "429")
			p.run(false, ask("mallory@example.com", pump), "!70 bar", "!"+place.link)
			p.change(func() { p.status, p.header = 0, nil })
			p.run(false, ask("ada@example.com", pump), "70 bar")

			// What is deleted says so until the next sync, and is in no answer after it.
			p.change(func() { p.there[0] = false })
			p.run(false, ask("ada@example.com", pump), "no longer there")
			p.run(false, sync, "1 unchanged, 1 removed")
			p.run(false, ask("ada@example.com", pump), "!70 bar", "!"+place.link)
			p.run(false, ask("ada@example.com", kettle), "Fridays")
			p.run(true, []string{"sources", "remove", "place"}, "the configuration has place")
		})
	}
}
