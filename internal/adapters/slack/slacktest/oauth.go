package slacktest

import "time"

// tokenLife is how long a rotated token lives.
const tokenLife = 12 * time.Hour

type oauthState struct {
	codes     map[string]*install
	refreshes map[string]*install
	rotation  bool
}

// Rotate has tokens of new installs expire after 12 hours.
func (s *Server) Rotate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oauth.rotation = true
}

// Approve is somebody who lets the app into a workspace: the code that Slack would send
// to the app's redirect address.
func (s *Server) Approve(team, enterprise string) (code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.oauth.codes == nil {
		s.oauth.codes, s.oauth.refreshes = map[string]*install{}, map[string]*install{}
	}
	code = s.nextID("code.")
	s.oauth.codes[code] = &install{team: team, enterprise: enterprise, bot: "U0BOT" + team}
	return code
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type oauthGrant struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	Scope        string `json:"scope"`
	BotUserID    string `json:"bot_user_id"`
	AppID        string `json:"app_id"`
	Team         named  `json:"team"`
	Enterprise   *named `json:"enterprise"`
	IsEnterprise bool   `json:"is_enterprise_install"`
	RefreshToken string `json:"refresh_token,omitempty"`
	ExpiresIn    int    `json:"expires_in,omitempty"`
}

func (s *Server) oauthAccess(work *request) (any, *apiError) {
	if work.args["client_id"] != ClientID || work.args["client_secret"] != ClientSecret {
		return nil, newAPIError("bad_client_secret")
	}
	known, key, missing := s.oauth.codes, work.args["code"], "invalid_code"
	if work.args["grant_type"] == "refresh_token" {
		known, key, missing = s.oauth.refreshes, work.args["refresh_token"], "invalid_refresh_token"
	}
	of := known[key]
	if of == nil {
		return nil, newAPIError(missing)
	}
	delete(known, key) // both are good for one use
	fresh := *of
	token := s.nextID("xoxb-")
	given := oauthGrant{
		AccessToken: token, TokenType: "bot", Scope: "chat:write", BotUserID: fresh.bot, AppID: AppID,
		Team: named{fresh.team, fresh.team}, IsEnterprise: fresh.team == "",
	}
	if fresh.enterprise != "" {
		given.Enterprise = &named{fresh.enterprise, fresh.enterprise}
	}
	if s.oauth.rotation {
		fresh.expires = s.clock.Now().Add(tokenLife)
		given.ExpiresIn, given.RefreshToken = int(tokenLife.Seconds()), s.nextID("xoxe-1-")
		s.oauth.refreshes[given.RefreshToken] = &fresh
	}
	s.tokens[token] = &fresh
	s.people[fresh.bot] = &Person{server: s, ID: fresh.bot, Name: "Cairn", team: fresh.team}
	return given, nil
}

func (s *Server) revokeToken(work *request) (any, *apiError) {
	for token, install := range s.tokens {
		if install == work.install {
			delete(s.tokens, token)
		}
	}
	return struct {
		Revoked bool `json:"revoked"`
	}{true}, nil
}
