package slack

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// scope is a permission that the app asks for, and what for.
type scope struct{ Name, Why string }

// scopes are exactly those that the adapter's calls and events need.
var scopes = []scope{
	{"app_mentions:read", "hear a mention in a channel that Cairn is invited to because of it"},
	{"channels:history", "hear mentions and replies in public channels that Cairn was invited to"},
	{"groups:history", "the same in private channels"},
	{"mpim:history", "the same in group conversations"},
	{"im:history", "read what people write to Cairn directly"},
	{"im:write", "open a direct conversation, for what only one person may see"},
	{"chat:write", "answer, edit and take back its own answers, stream them"},
	{"commands", "/cairn, and the shortcut on messages"},
	{"assistant:write", "status lines while it works, suggested questions, the agent pane"},
	{"files:read", "read the files that come with a question"},
	{"files:write", "attach answers that are too long for messages, and the picture of a run"},
	{"reactions:read", "count a thumb that people put on an answer as a rating, and see which answer they marked in channels that are sources"},
	{"reactions:write", "mark a thread as resolved, or as remembered"},
	{"channels:read", "know who sees an answer in a public channel, and in which `cairn doctor` finds it"},
	{"groups:read", "the same for private channels"},
	{"mpim:read", "the same for group conversations"},
	{"im:read", "know whose a direct conversation is"},
	{"users:read", "tell members from guests and from people of other companies, and call people by their names"},
	{"users:read.email", "know people again in the sources of documents, by their confirmed address"},
	{"usergroups:read", "let user groups ask, and see what is for them"},
}

func scopeNames() []string {
	var names []string
	for _, s := range scopes {
		names = append(names, s.Name)
	}
	return names
}

// optionalScopes are those that whoever installs the app may refuse: without one, Cairn goes
// without what it is for.
var optionalScopes = []string{"reactions:read", "reactions:write", "users:read.email", "usergroups:read"}

// groupScopes are those for group conversations, which an app that hears mentions alone goes without.
var groupScopes = []string{"mpim:history", "mpim:read"}

// subscription is a kind of event that the app subscribes to, and what for.
type subscription struct{ Name, Why string }

var subscriptions = []subscription{
	{"app_mention", "the mention that Cairn is invited to a channel by"},
	{"message.channels", "mentions, replies, edits and deletions in public channels"},
	{"message.groups", "in private channels"},
	{"message.mpim", "in group conversations"},
	{"message.im", "in the direct conversation"},
	{"reaction_added", "see that an answer was rated by a thumb, or marked in channels that are sources"},
	{"reaction_removed", "see that a thumb or mark was taken away"},
	{"app_home_opened", "the home tab, and the direct conversation's suggestions"},
	{"app_uninstalled", "end an install"},
	{"tokens_revoked", "end an install"},
}

// allMessages are the subscriptions to what is said in channels and groups, whether Cairn is
// mentioned or not, and to reactions to it.
var allMessages = []string{"message.channels", "message.groups", "message.mpim", "reaction_added", "reaction_removed"}

// scopes are the scopes of a manifest.
func (o ManifestOptions) scopes() []scope {
	if !o.MentionsOnly {
		return scopes
	}
	return slices.DeleteFunc(slices.Clone(scopes), func(s scope) bool { return slices.Contains(groupScopes, s.Name) })
}

// subscriptions are the subscriptions of a manifest.
func (o ManifestOptions) subscriptions() []subscription {
	subscriptions := slices.Clone(subscriptions)
	if o.MentionsOnly {
		subscriptions = slices.DeleteFunc(subscriptions, func(s subscription) bool { return slices.Contains(allMessages, s.Name) })
	}
	if o.Assistant {
		return append(subscriptions, subscription{"assistant_thread_started", "suggestions in the assistant pane"},
			subscription{"assistant_thread_context_changed", "suggest questions for the channel that a person looks at beside the pane"})
	}
	return append(subscriptions, subscription{"agent_session_stopped", "Stop in the agent pane"},
		subscription{"app_context_changed", "suggest questions for the channel that a person looks at beside the pane"})
}

//go:embed manifest.yaml
var manifestText string

var manifestTemplate = template.Must(template.New("manifest").Parse(manifestText))

// ManifestOptions is what an app manifest depends on.
type ManifestOptions struct {
	// URL is the address that Slack reaches the app at, "https://cairn.example.com". It is
	// needed without Socket, and for Install.
	URL     string
	Socket  bool // events come by Socket Mode
	Install bool // workspaces install the app themselves
	// Assistant asks for the assistant pane, which Slack retires, in the place of the agent
	// pane, for workspaces that have no other.
	Assistant bool
	// MentionsOnly has Slack send what mentions the app or is written to it directly, and nothing
	// else that is said in channels.
	MentionsOnly bool
}

// Manifest is the app manifest, YAML that Slack takes as it is, with the reason of each
// permission as a comment.
func Manifest(options ManifestOptions) (string, error) {
	if options.URL == "" && (!options.Socket || options.Install) {
		return "", errors.New("write the Slack manifest: it needs the https address that Slack reaches Cairn at: give it with --url, or set slack.url")
	}
	if options.URL != "" && !strings.HasPrefix(options.URL, "https://") {
		return "", fmt.Errorf("write the Slack manifest: Slack wants an address that begins with https://, not %q", options.URL)
	}
	var out strings.Builder
	err := manifestTemplate.Execute(&out, struct {
		ManifestOptions
		Scopes   []scope
		Optional []string // of Scopes: Slack wants them named in both lists
		Events   []subscription
		Command  string
		Shortcut string
	}{options, options.scopes(), optionalScopes, options.subscriptions(), commandName, askShortcut})
	if err != nil {
		return "", fmt.Errorf("write the Slack manifest: %w", err)
	}
	return out.String(), nil
}
