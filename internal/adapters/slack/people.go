package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// person is what Slack knows of somebody.
type person struct {
	id         string
	team       string // "" where it is not told
	enterprise string
	name       string // as people call them
	email      string // confirmed; "" for none
	guest      bool   // a limited account
	stranger   bool   // of another company, or nobody that the app may know
	admin      bool   // manages the workspace
	bot        bool
	at         time.Time // when Slack told it
}

// Bounds of what is remembered of people.
const (
	maxPeople = 20_000
	// admittedFor is how long is believed who is a member; who stops to be one is answered for
	// that time at most.
	admittedFor = 10 * time.Minute
	// believedFor is how long is believed what else Slack tells of people and channels.
	believedFor = time.Minute
)

// errUnknowable is the error for a person of whom the app may not ask.
var errUnknowable = errors.New("the app lacks the scope users:read: paste what `cairn slack manifest` prints into its App Manifest, and install it again")

// strangerNames are Slack's errors for people that the app may not know.
var strangerNames = nameSet("user_not_found", "user_not_visible")

// lookUpPerson asks Slack who somebody is, unless it told within a time.
func (a *Adapter) lookUpPerson(ctx context.Context, team, id string, within time.Duration) (person, error) {
	key := team + " " + id
	if known, ok := a.people.Get(key); ok && a.clock.now().Sub(known.at) < within {
		return known, nil
	}
	api, err := a.teamClient(ctx, team)
	if err != nil {
		return person{}, err
	}
	var told *slack.User
	err = a.pace.callPaced(ctx, turn{team: team, method: userInfo, patience: personPatience}, func() error {
		var err error
		told, err = api.GetUserInfoContext(ctx, id)
		return err
	})
	var found person
	switch {
	case refusalName(err) == "missing_scope":
		return person{}, errUnknowable
	case strangerNames[refusalName(err)]:
		found = person{id: id, stranger: true}
	case err != nil:
		return person{}, fmt.Errorf("ask Slack who %s is: %w", id, classifyError(string(userInfo), err))
	default:
		found = personOf(*told)
	}
	found.at = a.clock.now()
	a.people.Put(key, found)
	return found, nil
}

// personPatience is how long a look at a person may wait for its turn: Slack waits for 3 s.
const personPatience = time.Second

func personOf(told slack.User) person {
	found := person{
		id: told.ID, team: told.TeamID, enterprise: told.Enterprise.EnterpriseID, bot: told.IsBot || told.ID == "USLACKBOT",
		guest: told.IsRestricted || told.IsUltraRestricted, stranger: told.IsStranger || told.Deleted,
		name:  firstOf(told.Profile.DisplayName, told.RealName, told.Name),
		admin: told.IsAdmin || told.IsOwner || told.IsPrimaryOwner,
	}
	if told.IsEmailConfirmed {
		found.email = told.Profile.Email
	}
	return found
}

// isOutside tells somebody of another company than the workspace's.
func (p person) isOutside(home Workspace) bool {
	switch {
	case p.stranger:
		return true
	case p.team == "" || home.Team == "" || p.team == home.Team:
		return home.Team == "" && home.Enterprise != "" && p.enterprise != "" && p.enterprise != home.Enterprise
	}
	return home.Enterprise == "" || p.enterprise != home.Enterprise
}

// groupsOf gives the user groups of a team that people are in, by their ids.
func (a *Adapter) groupsOf(ctx context.Context, team string) (map[string][]string, error) {
	if known, ok := a.groups.Get(team); ok {
		return known, nil
	}
	api, err := a.teamClient(ctx, team)
	if err != nil {
		return nil, err
	}
	var told []slack.UserGroup
	err = a.pace.callPaced(ctx, turn{team: team, method: listGroups, patience: personPatience}, func() error {
		var err error
		told, err = api.GetUserGroupsContext(ctx, slack.GetUserGroupsOptionIncludeUsers(true))
		return err
	})
	if refusalName(err) == "missing_scope" { // it is optional: then nobody is in a group
		told, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the groups of Slack's team %s: %w", team, classifyError(string(listGroups), err))
	}
	found := map[string][]string{}
	for _, group := range told {
		for _, member := range group.Users {
			if len(found[member]) < chat.MaxMemberships {
				found[member] = append(found[member], group.ID)
			}
		}
	}
	a.groups.Put(team, found)
	return found, nil
}

// membersPage is how many members Slack lists at once.
const membersPage = 200

// membersOf lists who is in a channel, the bot left out; complete is false where there are more
// than chat.MaxMembers.
func (a *Adapter) membersOf(ctx context.Context, team, channel string) (members []string, complete bool, err error) {
	workspace, err := a.options.Workspaces.Workspace(ctx, team, "")
	if err != nil {
		return nil, false, err
	}
	ask := &slack.GetUsersInConversationParameters{ChannelID: channel, Limit: membersPage}
	for {
		var page []string
		err := a.pace.callPaced(ctx, turn{team: team, method: listMembers, patience: turnPatience}, func() error {
			var err error
			page, ask.Cursor, err = a.newClient(workspace.Token).GetUsersInConversationContext(ctx, ask)
			return err
		})
		if err != nil {
			return nil, false, classifyError(string(listMembers), err)
		}
		for _, id := range page {
			if id != workspace.Bot {
				members = append(members, id)
			}
		}
		switch {
		case len(members) > chat.MaxMembers:
			return nil, false, nil
		case ask.Cursor == "":
			return members, true, nil
		}
	}
}

// Place implements chat.PlaceDescriber.
func (a *Adapter) Place(ctx context.Context, thread chat.ThreadID) (chat.Place, error) {
	at, err := parseThread(thread)
	if err != nil {
		return chat.Place{}, fmt.Errorf("describe a place of Slack's: %w", err)
	}
	if at.private != "" {
		return chat.Place{Members: []chat.UserID{at.private}, Complete: true}, nil
	}
	key := at.team + " " + at.channel
	if known, ok := a.places.Get(key); ok {
		return known, nil
	}
	found, err := a.describePlace(ctx, at)
	if err != nil {
		return chat.Place{}, fmt.Errorf("describe a place of Slack's: %w", err)
	}
	a.places.Put(key, found)
	return found, nil
}

// describePlace asks Slack who sees a channel.
func (a *Adapter) describePlace(ctx context.Context, at place) (chat.Place, error) {
	api, err := a.teamClient(ctx, at.team)
	if err != nil {
		return chat.Place{}, err
	}
	var told *slack.Channel
	err = a.pace.callPaced(ctx, turn{team: at.team, method: channelInfo, patience: turnPatience}, func() error {
		var err error
		told, err = api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: at.channel})
		return err
	})
	if err != nil {
		return chat.Place{}, classifyError(string(channelInfo), err)
	}
	if told.IsIM {
		return chat.Place{Members: []chat.UserID{chat.UserID(told.User)}, Complete: true}, nil
	}
	found := chat.Place{Channel: at.channel}
	if !told.IsExtShared {
		found.Team = at.team
	}
	if !told.IsPrivate && !told.IsMpIM {
		found.Open = !told.IsExtShared
		return found, nil // everybody of the team may join and read
	}
	members, complete, err := a.membersOf(ctx, at.team, at.channel)
	if err != nil {
		return chat.Place{}, err
	}
	found.Complete = complete
	for _, id := range members {
		// Other bots read nothing by themselves. Somebody who can't be looked at counts as a person.
		if who, err := a.lookUpPerson(ctx, at.team, id, admittedFor); err != nil || !who.bot {
			found.Members = append(found.Members, chat.UserID(id))
		}
	}
	return found, nil
}

// Identify implements chat.Identifier. The channels of people are told of one person alone: it
// takes a call for each.
func (a *Adapter) Identify(ctx context.Context, thread chat.ThreadID, people []chat.UserID) ([]chat.Identity, error) {
	at, err := parseThread(thread)
	if err != nil {
		return nil, fmt.Errorf("identify people in Slack: %w", err)
	}
	home, err := a.options.Workspaces.Workspace(ctx, at.team, "")
	if err != nil {
		return nil, fmt.Errorf("identify people in Slack: %w", err)
	}
	groups, err := a.groupsOf(ctx, at.team)
	if err != nil { // groups only add to what somebody may see
		a.options.Logger.WarnContext(ctx, "list the user groups of a Slack workspace", slog.String("team", at.team), slog.Any("error", err))
	}
	found := make([]chat.Identity, len(people))
	for i, id := range people {
		if id == "" { // a program, which reads nothing for itself
			continue
		}
		who, err := a.lookUpPerson(ctx, at.team, string(id), believedFor)
		if err != nil {
			return nil, fmt.Errorf("identify people in Slack: %w", err)
		}
		found[i] = chat.Identity{Name: who.name, Email: who.email, Groups: groups[string(id)], Team: at.team, Guest: who.guest, External: who.isOutside(home)}
		if found[i].External {
			found[i].Team, found[i].Groups = who.team, nil
		}
		if len(people) == 1 {
			if found[i].Channels, err = a.channelsOf(ctx, at.team, string(id)); err != nil {
				return nil, fmt.Errorf("identify people in Slack: %w", err)
			}
		}
	}
	return found, nil
}

// channelsOf lists the channels of a person, among those that the bot is in or may join.
func (a *Adapter) channelsOf(ctx context.Context, team, id string) ([]string, error) {
	key := team + " " + id
	if known, ok := a.joined.Get(key); ok {
		return known, nil
	}
	api, err := a.teamClient(ctx, team)
	if err != nil {
		return nil, err
	}
	ask := &slack.GetConversationsForUserParameters{
		UserID: id, Types: []string{"public_channel", "private_channel"}, ExcludeArchived: true, Limit: membersPage,
	}
	var ids []string
	for {
		var page []slack.Channel
		err := a.pace.callPaced(ctx, turn{team: team, method: listJoined, patience: turnPatience}, func() error {
			var err error
			page, ask.Cursor, err = api.GetConversationsForUserContext(ctx, ask)
			return err
		})
		if err != nil {
			return nil, classifyError(string(listJoined), err)
		}
		for _, channel := range page {
			ids = append(ids, channel.ID)
		}
		if ask.Cursor == "" || len(ids) >= maxJoined {
			break
		}
	}
	ids = slices.Clip(ids[:min(len(ids), maxJoined)])
	a.joined.Put(key, ids)
	return ids, nil
}

// maxJoined is how many channels of a person are looked at.
const maxJoined = 2000
