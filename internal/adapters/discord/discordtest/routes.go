package discordtest

import "net/http"

// route is one of the API's.
type route struct {
	method, path string
	schema       string // of the body, by its name in the description; "" where there is none
	status       int    // of a success; 0: 200, or 204 where there is nothing to say
	anyone       bool   // needs no bot token
	interaction  bool   // the global limit doesn't count it
	free         bool   // asks the gateway, which must not be asked with the server locked
	run          func(*Server, *request) (any, *refusal)
}

// routeName returns what tests call the route.
func (r route) routeName() string { return r.method + " " + r.path }

// allRoutes returns the API as far as this server knows it.
func allRoutes() []route {
	const (
		get, post, put = http.MethodGet, http.MethodPost, http.MethodPut
		patch, remove  = http.MethodPatch, http.MethodDelete

		channelPath = "/channels/{channel}"
		messagePath = "/channels/{channel}/messages/{message}"
		webhookPath = "/webhooks/{webhook}/{token}"
		commandPath = "/applications/{application}/commands"
		ofGuildPath = "/applications/{application}/guilds/{guild}/commands"
		reactPath   = messagePath + "/reactions/{emoji}/@me"
		thread      = "CreateTextThreadWithMessageRequest"
		edit        = "IncomingWebhookUpdateRequestPartial"
	)
	return []route{
		{method: get, path: "/gateway", anyone: true, free: true, run: (*Server).gatewayURL},
		{method: get, path: "/gateway/bot", free: true, run: (*Server).gatewayBot},
		{method: get, path: "/users/@me", run: (*Server).getMe},
		{method: get, path: "/users/@me/guilds", run: (*Server).myGuilds},
		{method: remove, path: "/users/@me/guilds/{guild}", run: (*Server).leaveGuild},
		{method: post, path: "/users/@me/channels", schema: "CreatePrivateChannelRequest", run: (*Server).openDM},
		{method: get, path: "/users/{user}", run: (*Server).userInfo},
		{method: get, path: "/applications/@me", run: (*Server).getApplication},
		{method: get, path: "/oauth2/applications/@me", run: (*Server).getApplication},
		{method: get, path: "/guilds/{guild}", run: (*Server).guildInfo},
		{method: get, path: "/guilds/{guild}/channels", run: (*Server).guildChannels},
		{method: get, path: "/guilds/{guild}/roles", run: (*Server).guildRoles},
		{method: get, path: "/guilds/{guild}/members/{user}", run: (*Server).memberInfo},
		{method: get, path: "/guilds/{guild}/threads/active", run: (*Server).activeThreads},
		{method: get, path: channelPath, run: (*Server).channelInfo},
		{method: patch, path: channelPath, schema: "UpdateThreadRequestPartial", run: (*Server).changeThread},
		{method: remove, path: channelPath, run: (*Server).deleteThread},
		{method: post, path: channelPath + "/typing", run: (*Server).startTyping},
		{method: get, path: channelPath + "/messages", run: (*Server).listMessages},
		{method: post, path: channelPath + "/messages", schema: "MessageCreateRequest", run: (*Server).createMessage},
		{method: get, path: messagePath, run: (*Server).getMessage},
		{method: patch, path: messagePath, schema: "MessageEditRequestPartial", run: (*Server).editMessage},
		{method: remove, path: messagePath, run: (*Server).deleteMessage},
		{method: put, path: reactPath, run: (*Server).addReaction},
		{method: remove, path: reactPath, run: (*Server).removeReaction},
		{method: post, path: messagePath + "/threads", schema: thread, status: http.StatusCreated, run: (*Server).threadFromMessage},
		{method: post, path: channelPath + "/threads", status: http.StatusCreated, run: (*Server).createThread},
		{method: put, path: channelPath + "/thread-members/@me", run: (*Server).joinThread},
		{method: get, path: channelPath + "/threads/archived/public", run: (*Server).archivedThreads},
		{method: get, path: commandPath, run: (*Server).listCommands},
		{method: put, path: commandPath, run: (*Server).setCommands},
		{method: get, path: ofGuildPath, run: (*Server).listCommands},
		{method: put, path: ofGuildPath, run: (*Server).setCommands},
		{method: post, path: "/interactions/{interaction}/{token}/callback", anyone: true, interaction: true, run: (*Server).takeCallback},
		{method: post, path: webhookPath, schema: "IncomingWebhookRequestPartial", anyone: true, interaction: true, run: (*Server).followUp},
		{method: get, path: webhookPath + "/messages/{message}", anyone: true, interaction: true, run: (*Server).getResponse},
		{method: patch, path: webhookPath + "/messages/{message}", schema: edit, anyone: true, interaction: true, run: (*Server).editResponse},
		{method: remove, path: webhookPath + "/messages/{message}", anyone: true, interaction: true, run: (*Server).deleteResponse},
	}
}
