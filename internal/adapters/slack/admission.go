package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/settings"
)

// admission is what somebody may ask where they are.
type admission struct {
	interact.Admission
	who person // the zero person where nobody needed to know
}

// Refusals, in words for the person.
const (
	refusedOutside = "I answer members of this workspace alone, not people of other companies."
	refusedGuest   = "I answer members of this workspace alone, not guests."
	refusedUnknown = "I can't tell at the moment who is a member of this workspace, so I answer nobody."
	refusedAsker   = "You are not among those who may ask me here."
)

// terms are Slack's words for who manages it.
var terms = interact.Terms{
	Managers: "An admin of the workspace", AdminCommand: "/cairn admin", NotAsker: refusedAsker, NotManager: "that takes an admin of the workspace",
}

// admitSignal tells what somebody may ask where a signal comes from, and says what its message may be
// answered from.
func (d dispatcher) admitSignal(ctx context.Context, of *signal) (admission, error) {
	given, err := d.admitPerson(ctx, of)
	if err != nil || given.Refusal != "" {
		return given, err
	}
	channel := of.place.channel
	if of.place.isDirect() {
		channel = "" // what is set for the workspace holds, too, where people write directly
	}
	how, err := d.adapter.control.Effective(ctx, settings.NewSpace(Name, of.place.team), channel, settings.Setting{})
	if err != nil {
		return given, err
	}
	asker, err := d.isAsker(ctx, of, how)
	if err != nil {
		return given, err
	}
	given.Admission = terms.Admit(how, d.teamCollections(of.place.team, of.enterprise), asker)
	if of.kind == kindManaged { // an admin must be able to turn it on again
		given.Refusal = ""
	}
	of.message.Collections = given.Setting.Collections
	return given, nil
}

// admitPerson refuses guests and people of other companies, unless they are let in.
func (d dispatcher) admitPerson(ctx context.Context, of *signal) (admission, error) {
	if d.adapter.options.External && d.adapter.options.Guests && of.kind != kindManaged {
		return admission{}, nil
	}
	home, err := d.adapter.options.Workspaces.Workspace(ctx, of.place.team, of.enterprise)
	if err != nil {
		return admission{}, fmt.Errorf("access Slack's team %s: %w", of.place.team, err)
	}
	who, err := d.adapter.lookUpPerson(ctx, of.place.team, string(of.by), admittedFor)
	if errors.Is(err, errUnknowable) {
		d.adapter.options.Logger.ErrorContext(ctx, "refuse a person in Slack", slog.String("team", of.place.team), slog.Any("error", err))
		return admission{Admission: interact.Admission{Refusal: refusedUnknown}}, nil
	}
	if err != nil {
		return admission{}, err
	}
	if who.team == "" {
		who.team = of.userTeam
	}
	given := admission{who: who}
	switch {
	case who.isOutside(home):
		if !d.adapter.options.External {
			given.Refusal = refusedOutside
		}
	case who.guest && !d.adapter.options.Guests:
		given.Refusal = refusedGuest
	}
	return given, nil
}

// teamCollections are those that the configuration gives to a team, or to its enterprise; none: all.
func (d dispatcher) teamCollections(team, enterprise string) []string {
	for _, id := range []string{team, enterprise, AnyTeam} {
		if collections, listed := d.adapter.options.Teams[id]; listed && id != "" {
			return collections
		}
	}
	return nil
}

// isAsker tells whether somebody, or a user group of theirs, is among those who may ask.
func (d dispatcher) isAsker(ctx context.Context, of *signal, how settings.Setting) (bool, error) {
	ids := []string{string(of.by)}
	if how.Admits(ids) {
		return true, nil
	}
	if !slices.ContainsFunc(how.Askers, func(id string) bool { return strings.HasPrefix(id, "S") }) {
		return false, nil
	}
	groups, err := d.adapter.groupsOf(ctx, of.place.team)
	if err != nil {
		return false, err
	}
	return how.Admits(groups[string(of.by)]), nil
}

// refuseSignal answers a signal that its person is refused.
func (d dispatcher) refuseSignal(ctx context.Context, of signal, why string) ([]byte, error) {
	switch {
	case of.kind == kindSubmitted && of.verb == verbAsk:
		return formError(askBlock, why)
	case of.kind == kindSubmitted:
		return formError(reasonBlock, why)
	case of.kind == kindOpened && of.tab == "home", of.kind == kindPressed && of.verb == verbAsk:
		d.adapter.control.Skip(ctx, "who opened it is refused: "+why)
		return nil, d.publishHome(ctx, of, []slack.Block{remarkBlock(why)})
	case of.kind == kindOpened, of.kind == kindViewed, of.kind == kindEdited:
		d.adapter.control.Skip(ctx, "its author is refused: "+why)
		return nil, nil
	case (of.kind == kindAsked || of.kind == kindManaged) && of.place.private != "":
		return privateAnswer(why)
	}
	return nil, d.adapter.control.RefuseOnce(ctx, &surface{adapter: d.adapter, of: of}, of.noticeKey(), why)
}

// privateAnswer is the first answer to a slash command, which its author alone sees.
func privateAnswer(text string) ([]byte, error) {
	return json.Marshal(struct {
		ResponseType string `json:"response_type"`
		Text         string `json:"text"`
	}{"ephemeral", text})
}

// isHere tells whether a thread is where a press was made: a button shows nothing of other places.
// An answer that one person alone saw may have been shared in its channel, or have come to them
// directly.
func (s signal) isHere(thread chat.ThreadID) bool {
	at, err := parseThread(thread)
	if err != nil || at.team != s.place.team {
		return false
	}
	return at.channel == s.place.channel || at.private != "" && at.private == s.by
}
