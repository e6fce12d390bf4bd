package discordtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

// FuzzBodies sends whatever body to each route that reads one: the answer is one of
// Discord's, never a broken connection, and what it takes can be shown.
func FuzzBodies(f *testing.F) {
	for route := range byte(7) {
		for _, body := range []string{
			`{"content":"x","nonce":1,"enforce_nonce":true,"allowed_mentions":{"parse":["users"]}}`,
			`{"embeds":[{"title":"t","fields":[{"name":"n","value":"v"}]}],"components":null,"attachments":[{"id":"0"}]}`,
			`{"flags":32768,"components":[{"type":17,"components":[{"type":10,"content":"t"},{"type":9,"components":[{"type":10,"content":"t"}],"accessory":{"type":2,"style":5,"label":"l","url":"https://a.example"}}]}]}`,
			`{"type":9,"data":{"custom_id":"w","title":"T","components":[{"type":18,"label":"L","component":{"type":4,"custom_id":"t","style":1}}]}}`,
			`{"type":7,"data":{"components":[{"type":1,"components":[{"type":3,"custom_id":"m","options":[{"label":"l","value":"v"}]}]}]}}`,
			`{"name":"n","auto_archive_duration":60,"message":{"content":"x"}}`,
			commands, `[]`, `null`, `{`, ``,
		} {
			f.Add(route, body)
		}
	}
	f.Fuzz(func(t *testing.T, route byte, body string) {
		p := newPlace(t, discordtest.Options{})
		forum, said := p.team.Forum("help"), p.post(p.general, `{"content":"x","components":[`+row(button("b"))+`]}`)
		pressed := p.Press(p.ann, said.ID, "L")
		messages := "/channels/" + p.general + "/messages"
		to := []struct{ method, path string }{
			{"POST", messages}, {"PATCH", messages + "/" + said.ID}, {"POST", messages + "/" + said.ID + "/threads"},
			{"POST", "/channels/" + forum + "/threads"}, {"PUT", commandsPath}, {"POST", webhook(pressed)},
			{"POST", "/interactions/" + pressed.ID + "/" + pressed.Token + "/callback"},
		}[route%7]
		got := p.send(to.method, to.path, strings.NewReader(body), http.Header{"Content-Type": {"application/json"}})
		if got.Status >= 500 || got.Status >= 300 && !strings.HasPrefix(got.Body, `{"message":"`) {
			t.Errorf("%s %s: %d %s", to.method, to.path, got.Status, got.Body)
		}
		for _, channel := range []string{p.general, forum} {
			if shown := p.Show(channel); !strings.HasPrefix(shown, "== #") {
				t.Errorf("shown: %s", shown)
			}
			for _, said := range p.Messages(channel) {
				if discordtest.Length(said.Content) > 2000 {
					t.Errorf("a content of %d was taken", discordtest.Length(said.Content))
				}
			}
		}
		if modal := pressed.Modal(); modal != nil && modal.Show() == "" {
			t.Error("a window shows nothing")
		}
	})
}

// FuzzForms sends whatever in place of a form of files.
func FuzzForms(f *testing.F) {
	part := func(disposition, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
	}
	f.Add(part(`name="payload_json"`, `{"content":"x"}`) + part(`name="files[0]"; filename="a.txt"`, "a") + "--b--\r\n")
	f.Add(part(`name="files[99]"; filename="../a"`, "") + "--b--")
	f.Add(part(`name="files[1]"`, "") + "--b--")
	f.Add("--b")
	f.Fuzz(func(t *testing.T, form string) {
		p := newPlace(t, discordtest.Options{})
		got := p.send("POST", "/channels/"+p.general+"/messages", strings.NewReader(form), http.Header{"Content-Type": {"multipart/form-data; boundary=b"}})
		if got.Status >= 500 || got.Status >= 300 && !strings.HasPrefix(got.Body, `{"message":"`) {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}
