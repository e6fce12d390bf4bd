package discordtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestAnswersFollowTheDescription checks the fake's own answers against the description
// that it checks requests against. Errors with fields are left out: the description has
// numbers for their codes, the documentation and Discord have words.
func TestAnswersFollowTheDescription(t *testing.T) {
	s := New(t, Options{Limits: NoLimits()})
	team := s.Guild("Team")
	ann, general, forum := team.Member("Ann"), team.Channel("general"), team.Forum("help")
	said := s.Upload(ann, general, "<@"+Bot+"> how?", File{Name: "a.txt", Content: []byte("a")})
	messages := "/channels/" + general + "/messages"
	for _, is := range []struct{ method, path, body, schema string }{
		{"POST", messages, `{"content":"x","nonce":"n","embeds":[{"title":"t","fields":[{"name":"n","value":"v"}]}],"message_reference":{"message_id":"` + said.ID + `"},
			"components":[{"type":1,"components":[{"type":2,"style":1,"label":"L","custom_id":"b"}]},{"type":1,"components":[{"type":3,"custom_id":"c","options":[{"label":"a","value":"b"}]}]}]}`, "MessageResponse"},
		{"POST", messages, `{"flags":32768,"components":[{"type":10,"content":"t"},{"type":17,"components":[{"type":14},{"type":10,"content":"t"}]}]}`, "MessageResponse"},
		{"GET", messages + "/" + said.ID, "", "MessageResponse"},
		{"POST", messages + "/" + said.ID + "/threads", `{"name":"n"}`, "ThreadResponse"},
		{"GET", messages + "/" + said.ID, "", "MessageResponse"},
		{"GET", "/channels/" + general, "", "GuildChannelResponse"},
		{"GET", "/channels/" + said.ID, "", "ThreadResponse"},
		{"GET", "/channels/" + s.DM(ann), "", "PrivateChannelResponse"},
		{"POST", "/channels/" + forum + "/threads", `{"name":"n","message":{"content":"x"}}`, "CreatedThreadResponse"},
		{"GET", "/guilds/" + team.ID + "/threads/active", "", "ThreadsResponse"},
		{"GET", "/guilds/" + team.ID + "/members/" + ann, "", "GuildMemberResponse"},
		{"GET", "/users/@me", "", "UserPIIResponse"},
		{"GET", "/users/" + ann, "", "UserResponse"},
		{"GET", "/gateway/bot", "", "GatewayBotResponse"},
		{"GET", "/channels/1", "", "ErrorResponse"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), is.method, s.URL()+"/api/v10"+is.path, strings.NewReader(is.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bot "+Token)
		if is.body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := s.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if refused := checkSchema(is.schema, raw); refused != nil || (response.StatusCode >= 400) != (is.schema == "ErrorResponse") {
			t.Errorf("%s %s: %d %s\nis no %s: %s", is.method, is.path, response.StatusCode, raw, is.schema, mustJSON(refused))
		}
	}
	team.Role("staff", ManageGuild)
	for _, one := range s.wireGuild(s.guilds[0]).Roles {
		if refused := checkSchema("GuildRoleResponse", mustJSON(one)); refused != nil {
			t.Errorf("the role %s: %s", one.Name, mustJSON(refused))
		}
	}
}
