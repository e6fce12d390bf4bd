package discordtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

// plainBot does what the bot of testdata/discordjs does, by requests as the documents
// show them.
type plainBot struct {
	t      *testing.T
	client *http.Client
	socket *websocket.Conn
}

// startPlain runs a plainBot until the test ends.
func startPlain(t *testing.T, p *place) {
	t.Helper()
	b := &plainBot{t: t, client: p.Client()}
	var gateway struct{ URL string }
	b.do("GET", "/gateway/bot", "", &gateway)
	socket, response, err := websocket.DefaultDialer.DialContext(t.Context(), gateway.URL+"/?v=10&encoding=json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	b.socket = socket
	var listening sync.WaitGroup
	listening.Go(b.listen)
	t.Cleanup(func() {
		if err := socket.Close(); err != nil {
			t.Error(err)
		}
		listening.Wait()
	})
}

// do makes a request and reads its answer into result, where that is not nil.
func (b *plainBot) do(method, path, body string, result any) {
	b.request(method, path, "application/json", strings.NewReader(body), result)
}

func (b *plainBot) request(method, path, media string, body io.Reader, result any) {
	request, err := http.NewRequest(method, "https://discord.com/api/v10"+path, body)
	if err != nil {
		b.t.Error(err)
		return
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("Authorization", "Bot "+discordtest.Token)
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Error(err)
		return
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		b.t.Errorf("%s %s: %d %s %v", method, path, response.StatusCode, raw, err)
		return
	}
	if result != nil {
		if err := json.Unmarshal(raw, result); err != nil {
			b.t.Errorf("%s %s: %v", method, path, err)
		}
	}
}

// listen identifies, and acts on what comes until the connection ends. It sends no
// heartbeats: the story is over before the first is due.
func (b *plainBot) listen() {
	identify := `{"op":2,"d":{"token":"` + discordtest.Token + `","intents":4609,"properties":{"os":"linux","browser":"plain","device":"plain"}}}`
	if err := b.socket.WriteMessage(websocket.TextMessage, []byte(identify)); err != nil {
		b.t.Error(err)
		return
	}
	for {
		var event struct {
			Type string          `json:"t"`
			Data json.RawMessage `json:"d"`
		}
		if b.socket.ReadJSON(&event) != nil {
			return
		}
		switch event.Type {
		case "READY":
			b.do("PUT", commandsPath, `[{"name":"cairn","description":"Ask Cairn","options":[{"type":1,"name":"ask","description":"Ask","options":[
				{"type":3,"name":"question","description":"What","required":true},
				{"type":3,"name":"collection","description":"Where","autocomplete":true}]}]},{"name":"Ask Cairn about this","type":3}]`, nil)
		case "MESSAGE_CREATE":
			b.message(event.Data)
		case "INTERACTION_CREATE":
			b.interaction(event.Data)
		}
	}
}

func (b *plainBot) message(data json.RawMessage) {
	var said struct {
		ID      string
		Channel string                `json:"channel_id"`
		Guild   string                `json:"guild_id"`
		Author  struct{ ID string }   `json:"author"`
		Mention []struct{ ID string } `json:"mentions"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		b.t.Error(err)
		return
	}
	if said.Author.ID == discordtest.Bot || len(said.Mention) == 0 {
		return
	}
	if said.Guild == "" {
		b.do("POST", "/channels/"+said.Channel+"/messages", `{"content":"Hello.","message_reference":{"message_id":"`+said.ID+`"},"allowed_mentions":{"parse":[],"replied_user":true}}`, nil)
		return
	}
	messages := "/channels/" + said.ID + "/messages" // of the thread: it has the message's id
	b.do("POST", "/channels/"+said.Channel+"/messages/"+said.ID+"/threads", `{"name":"Rolling back","auto_archive_duration":60}`, nil)
	b.do("POST", "/channels/"+said.ID+"/typing", "", nil)
	var status, gone struct{ ID string }
	b.do("POST", messages, `{"content":"Working…","nonce":"n1","enforce_nonce":true}`, &status)
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	file, err := writer.CreateFormFile("files[0]", "notes.txt")
	if err == nil {
		_, err = io.WriteString(file, "notes")
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		b.t.Error(err)
	}
	b.request("POST", messages, writer.FormDataContentType(), &form, nil)
	b.do("POST", messages, `{"content":"Gone soon."}`, &gone)
	b.do("DELETE", messages+"/"+gone.ID, "", nil)
	b.do("PATCH", messages+"/"+status.ID, `{"content":"Which one?","embeds":[{"title":"Runbook","url":"https://docs.example/run","description":"Chapter 2"}],"components":[
		{"type":1,"components":[{"type":2,"style":1,"label":"Say it yourself","custom_id":"free"},{"type":2,"style":5,"label":"Docs","url":"https://docs.example"}]},
		{"type":1,"components":[{"type":3,"custom_id":"where","placeholder":"Which?","options":[{"label":"Staging","value":"s"},{"label":"Production","value":"p"}]}]}]}`, nil)
}

// asked is an interaction, as far as the bot cares.
type asked struct {
	ID, Token string
	Type      int
	Data      struct {
		CustomID string `json:"custom_id"`
		Kind     int    `json:"type"`
		Values   []string
		Target   string `json:"target_id"`
		Options  []struct{ Options []struct{ Value string } }
		Resolved struct {
			Messages map[string]struct{ Content string }
		}
		Components []struct{ Components []struct{ Value string } }
	}
}

func (b *plainBot) interaction(data json.RawMessage) {
	var is asked
	if err := json.Unmarshal(data, &is); err != nil {
		b.t.Error(err)
		return
	}
	answer := func(body string, filled ...any) {
		b.do("POST", "/interactions/"+is.ID+"/"+is.Token+"/callback", fmt.Sprintf(body, filled...), nil)
	}
	webhook := "/webhooks/" + discordtest.AppID + "/" + is.Token
	switch {
	case is.Type == 4:
		answer(`{"type":8,"data":{"choices":[{"name":"Handbook","value":"handbook"}]}}`)
	case is.Type == 2 && is.Data.Kind == 3:
		answer(`{"type":4,"data":{"content":"About: %s","allowed_mentions":{"parse":[]}}}`, is.Data.Resolved.Messages[is.Data.Target].Content)
	case is.Type == 2:
		answer(`{"type":5,"data":{"flags":64}}`)
		b.do("PATCH", webhook+"/messages/@original", `{"content":"Because of `+is.Data.Options[0].Options[0].Value+`"}`, nil)
		b.do("POST", webhook, `{"content":"More.","flags":64}`, nil)
	case is.Type == 3 && is.Data.CustomID == "free":
		answer(`{"type":9,"data":{"custom_id":"window","title":"Your answer","components":[{"type":1,"components":[{"type":4,"custom_id":"text","label":"Answer","style":1}]}]}}`)
	case is.Type == 3:
		answer(`{"type":6}`)
		b.do("PATCH", webhook+"/messages/@original", `{"content":"You took `+is.Data.Values[0]+`"}`, nil)
	case is.Type == 5:
		answer(`{"type":7,"data":{"content":"You said %s","components":[],"embeds":[]}}`, is.Data.Components[0].Components[0].Value)
	}
}
