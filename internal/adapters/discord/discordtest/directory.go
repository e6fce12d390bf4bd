package discordtest

import (
	"strconv"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest/gatewaytest"
)

func (s *Server) gatewayURL(*request) (any, *refusal) {
	return struct {
		URL string `json:"url"`
	}{s.gateway.URL()}, nil
}

func (s *Server) gatewayBot(*request) (any, *refusal) {
	return struct {
		URL    string            `json:"url"`
		Shards int               `json:"shards"`
		Limit  gatewaytest.Limit `json:"session_start_limit"`
	}{s.gateway.URL(), s.options.Shards, s.gateway.Limit()}, nil
}

func (s *Server) getMe(*request) (any, *refusal) {
	return struct {
		wireUser
		MFA    bool   `json:"mfa_enabled"`
		Locale string `json:"locale"`
	}{s.wireUser(Bot), true, "en-US"}, nil
}

func (s *Server) userInfo(work *request) (any, *refusal) {
	if s.people[work.PathValue("user")] == nil {
		return nil, newRefusal(notFound, codeUnknownUser)
	}
	return s.wireUser(work.PathValue("user")), nil
}

// flagMessageContentLimited is the flag of an application of up to 100 guilds that has the
// MESSAGE CONTENT intent.
const flagMessageContentLimited = 1 << 19

// applicationFlags returns those of the application.
func (s *Server) applicationFlags() int {
	if s.options.MessageContent {
		return flagMessageContentLimited
	}
	return 0
}

func (s *Server) getApplication(*request) (any, *refusal) {
	var endpoint *string
	if s.endpoint != "" {
		endpoint = &s.endpoint
	}
	return struct {
		ID                  string   `json:"id"`
		Name                string   `json:"name"`
		Description         string   `json:"description"`
		VerifyKey           string   `json:"verify_key"`
		Flags               int      `json:"flags"`
		BotPublic           bool     `json:"bot_public"`
		InteractionsURL     *string  `json:"interactions_endpoint_url"`
		ApproximateGuilds   int      `json:"approximate_guild_count"`
		Bot                 wireUser `json:"bot"`
		BotRequireCodeGrant bool     `json:"bot_require_code_grant"`
	}{
		ID: AppID, Name: AppName, VerifyKey: s.PublicKey(), Flags: s.applicationFlags(), BotPublic: s.options.Public, InteractionsURL: endpoint,
		BotRequireCodeGrant: s.options.CodeGrant,
		ApproximateGuilds:   len(s.guilds), Bot: s.wireUser(Bot),
	}, nil
}

// joinedGuild returns the guild of a request, which the app must be in.
func (s *Server) joinedGuild(work *request) (*guild, *refusal) {
	id := work.PathValue("guild")
	if in := s.findGuild(id); in != nil {
		return in, nil
	}
	for _, left := range s.guilds {
		if left.ID == id {
			return nil, newRefusal(forbidden, codeMissingAccess)
		}
	}
	return nil, newRefusal(notFound, codeUnknownGuild)
}

// maxGuildPage is how many guilds Discord lists at once.
const maxGuildPage = 200

func (s *Server) myGuilds(work *request) (any, *refusal) {
	limit := maxGuildPage
	if asked := work.URL.Query().Get("limit"); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 || n > maxGuildPage {
			return nil, newFieldError("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 200.")
		}
		limit = n
	}
	after := work.URL.Query().Get("after")
	found := []wireGuild{}
	for _, in := range s.guilds { // by their ids
		if !in.gone && (after == "" || compareAge(in.ID, after) > 0) && len(found) < limit {
			wired, base := s.wireGuild(in), in.basePermissions(in.findMember(Bot))
			wired.OwnerID, wired.NoticesID = "", nil // which the list does not tell
			wired.Permissions = &base
			found = append(found, wired)
		}
	}
	return found, nil
}

// leaveGuild takes the app out of a guild, as it asked.
func (s *Server) leaveGuild(work *request) (any, *refusal) {
	id := work.PathValue("guild")
	in := s.findGuild(id)
	if in == nil {
		return nil, newRefusal(notFound, codeUnknownGuild)
	}
	in.gone = true
	s.emitEvent(id, "GUILD_DELETE", struct {
		ID string `json:"id"`
	}{id})
	return nil, nil
}

func (s *Server) guildInfo(work *request) (any, *refusal) {
	in, refused := s.joinedGuild(work)
	if refused != nil {
		return nil, refused
	}
	return s.wireGuild(in), nil
}

func (s *Server) guildChannels(work *request) (any, *refusal) {
	in, refused := s.joinedGuild(work)
	if refused != nil {
		return nil, refused
	}
	found := []wireChannel{} // all of them: those that the app doesn't see as well
	for _, at := range s.channelsOf(in.ID) {
		if at.thread == nil {
			found = append(found, s.wireChannel(at))
		}
	}
	return found, nil
}

func (s *Server) guildRoles(work *request) (any, *refusal) {
	in, refused := s.joinedGuild(work)
	if refused != nil {
		return nil, refused
	}
	return s.wireGuild(in).Roles, nil
}

func (s *Server) memberInfo(work *request) (any, *refusal) {
	in, refused := s.joinedGuild(work)
	if refused != nil {
		return nil, refused
	}
	known := in.findMember(work.PathValue("user"))
	if known == nil {
		return nil, newRefusal(notFound, codeUnknownMember)
	}
	return s.fullMember(known), nil
}

func (s *Server) channelInfo(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	return s.wireChannel(at), nil
}

func (s *Server) openDM(work *request) (any, *refusal) {
	body, refused := decode[struct {
		Recipient string `json:"recipient_id"`
	}](work.body)
	if refused != nil {
		return nil, refused
	}
	if known := s.people[body.Recipient]; known == nil || known.bot {
		return nil, newFieldError("recipient_id", "INVALID_RECIPIENT", "Invalid Recipient(s)")
	}
	return s.wireChannel(s.directChannel(body.Recipient)), nil
}

// OpenApp changes who may add the app to servers: everybody, and only by a code grant.
func (s *Server) OpenApp(public, codeGrant bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Public, s.options.CodeGrant = public, codeGrant
}
