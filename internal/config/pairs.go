package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// forms are those of lists whose entries are pairs, "KEY=VALUE", and others that no type tells,
// by the names that tags give them.
var forms = map[string]form{
	"slack channels": channelForm{id: slackChannel, want: "a channel's id and how it is listened to, such as C0123ABCD=thread"},
	"discord channels": channelForm{
		id: discordID, want: "a channel's id and how it is listened to, such as 1234567890=thread",
	},
	"slack humans": humansForm{
		id: slackChannel, human: regexp.MustCompile(`^[UWS][A-Z0-9]{2,20}$`),
		want: "the id of a person or group, such as U0123ABCD or S0123ABCD, for one channel alone as C0123ABCD=U0123ABCD",
	},
	"discord humans": humansForm{
		id: discordID, human: regexp.MustCompile(`^&?[0-9]{1,20}$`),
		want: "the id of a user, or of a role after &, such as 1234567890 or &1234567890, for one channel alone as CHANNEL=1234567890",
	},
	"slack teams": spacesForm{
		id:   regexp.MustCompile(`^([TE][A-Z0-9]{2,20}|\*)$`),
		want: "the id of a workspace or enterprise, or for one collection of several TEAM=COLLECTION, such as T0123ABCD=handbook; * for all",
	},
	"discord servers": spacesForm{
		id: discordID, want: "a server's id, or for one collection of several SERVER=COLLECTION, such as 1234567890=handbook",
	},
	"groups":   groupsForm{},
	"interval": intervalForm{},
}

var (
	slackChannel = regexp.MustCompile(`^[CGD][A-Z0-9]{2,20}$`)
	discordID    = regexp.MustCompile(`^[0-9]{1,20}$`)
)

// listening is what is answered in a channel.
var listening = []string{"mention", "thread", "questions", "off"}

// channelForm is a list of channels and how each is listened to: a map of texts by id.
type channelForm struct {
	id   *regexp.Regexp
	want string
}

func (f channelForm) set(field reflect.Value, text string, _ base) error {
	channel, how, found := strings.Cut(text, "=")
	if !found || !f.id.MatchString(channel) {
		return fmt.Errorf("%q: want %s", text, f.want)
	}
	key := reflect.ValueOf(channel)
	if field.MapIndex(key).IsValid() {
		return fmt.Errorf("%q: the channel stands there twice", text)
	}
	if err := checkChoice(how, listening); err != nil {
		return err
	}
	if field.IsNil() {
		field.Set(reflect.MakeMap(field.Type()))
	}
	field.SetMapIndex(key, reflect.ValueOf(how).Convert(field.Type().Elem()))
	return nil
}

func (channelForm) get(field reflect.Value) []string {
	var entries []string
	for channel, how := range field.Seq2() {
		entries = append(entries, channel.String()+"="+how.String())
	}
	slices.Sort(entries)
	return entries
}

// humansForm is a list of those whom "Ask a human" calls, everywhere or in one channel.
type humansForm struct {
	id, human *regexp.Regexp
	want      string
}

func (f humansForm) set(field reflect.Value, text string, _ base) error {
	channel, called, found := strings.Cut(text, "=")
	if !found {
		channel, called = "", text
	}
	if found && !f.id.MatchString(channel) || !f.human.MatchString(called) {
		return fmt.Errorf("%q: want %s", text, f.want)
	}
	humans := mapAt[string, []string](field)
	humans[channel] = append(humans[channel], called)
	return nil
}

func (humansForm) get(field reflect.Value) []string {
	return joinPairs(field.Interface().(map[string][]string))
}

// spacesForm is a list of servers or workspaces: "ID", or "ID=COLLECTION", once for each
// collection.
type spacesForm struct {
	id   *regexp.Regexp
	want string
}

func (f spacesForm) set(field reflect.Value, text string, _ base) error {
	space, collection, bounded := strings.Cut(text, "=")
	if !f.id.MatchString(space) || bounded && collection == "" {
		return fmt.Errorf("%q: want %s", text, f.want)
	}
	known, twice := field.Interface().(Spaces)[space]
	if twice && (!bounded || len(known) == 0 || slices.Contains(known, collection)) {
		return fmt.Errorf("%q: it stands there twice, or both with collections and without", text)
	}
	if bounded {
		known = append(known, collection)
	}
	mapAt[string, []string](field)[space] = known
	return nil
}

func (spacesForm) get(field reflect.Value) []string {
	var entries []string
	spaces := field.Interface().(Spaces)
	for _, space := range slices.Sorted(maps.Keys(spaces)) {
		if len(spaces[space]) == 0 {
			entries = append(entries, space)
		}
		for _, collection := range spaces[space] {
			entries = append(entries, space+"="+collection)
		}
	}
	return entries
}

// groupsForm is a list of groups and a member of each.
type groupsForm struct{}

func (groupsForm) set(field reflect.Value, text string, _ base) error {
	name, member, _ := strings.Cut(text, "=")
	group, err := knowledge.Group(name)
	var principal knowledge.Principal
	if err == nil {
		principal, err = knowledge.ParsePrincipal(member)
	}
	if err != nil {
		return fmt.Errorf("%q: want a group and a member, such as legal=user:ada@example.com: %w", text, err)
	}
	groups := mapAt[knowledge.Principal, []knowledge.Principal](field)
	switch {
	case principal == knowledge.Public:
		return fmt.Errorf("%q: public is no member of %s: give the documents the audience public instead", text, group)
	case slices.Contains(groups[group], principal):
		return fmt.Errorf("%q: %s is a member of %s twice", text, principal, group)
	}
	groups[group] = append(groups[group], principal)
	return nil
}

func (groupsForm) get(field reflect.Value) []string {
	named := map[string][]string{}
	for group, members := range field.Interface().(map[knowledge.Principal][]knowledge.Principal) {
		name := strings.TrimPrefix(string(group), "group:")
		for _, member := range members {
			named[name] = append(named[name], string(member))
		}
	}
	return joinPairs(named)
}

// mapAt gives the map of a field, and makes it where there is none.
func mapAt[K comparable, V any](field reflect.Value) map[K]V {
	if field.IsNil() {
		field.Set(reflect.MakeMap(field.Type()))
	}
	return field.Convert(reflect.TypeFor[map[K]V]()).Interface().(map[K]V)
}

// joinPairs writes lists by their keys as pairs, in the order of the keys; one of the key ""
// has its value alone.
func joinPairs(lists map[string][]string) []string {
	var entries []string
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		for _, value := range lists[key] {
			if key != "" {
				value = key + "=" + value
			}
			entries = append(entries, value)
		}
	}
	return entries
}
