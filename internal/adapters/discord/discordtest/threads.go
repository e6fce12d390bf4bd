package discordtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// threadBody is the body of a request that starts or changes a thread.
type threadBody struct {
	Name        *string         `json:"name"`
	AutoArchive int             `json:"auto_archive_duration"`
	Type        *int            `json:"type"`
	Archived    *bool           `json:"archived"`
	Locked      *bool           `json:"locked"`
	Tags        []string        `json:"applied_tags"`
	Message     json.RawMessage `json:"message"`
}

// checkName refuses a name that is given and can't be one.
func (b threadBody) checkName() *refusal {
	if b.Name != nil && (strings.TrimSpace(*b.Name) == "" || Length(*b.Name) > 100) {
		return newFieldError("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	return nil
}

// oneDay is how long a thread lives without messages where nothing else is said, in
// minutes.
const oneDay = 1440

func (s *Server) threadFromMessage(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	body, refused := decode[threadBody](work.body)
	if refused != nil {
		return nil, refused
	}
	if refused := body.checkName(); refused != nil {
		return nil, refused
	}
	said := s.findMessage(at.ID, work.PathValue("message"))
	switch {
	case at.kind != kindText && at.kind != kindNews:
		return nil, newRefusal(badRequest, codeWrongChannelType)
	case said == nil || said.Only != "":
		return nil, newRefusal(notFound, codeUnknownMessage)
	case !s.memberPermissions(Bot, at).hasAll(CreatePublicThreads | ReadMessageHistory):
		return nil, newRefusal(forbidden, codeMissingPermissions)
	case said.Thread != "" || s.channels[said.ID] != nil:
		return nil, newRefusal(badRequest, codeThreadExists)
	}
	kind := kindPublicThread
	if at.kind == kindNews {
		kind = kindNewsThread
	}
	made := s.startThread(&channel{ID: said.ID, Name: *body.Name, kind: kind, parent: at.ID}, body, Bot)
	made.thread.starter = said.ID
	said.Thread, said.Flags = made.ID, said.Flags|flagHasThread
	s.addMessage(&message{Message: Message{Channel: made.ID, Author: said.Author, Type: typeStarter}, reference: said.ID})
	return s.wireChannel(made), nil
}

// startThread puts a new thread into its channel.
func (s *Server) startThread(made *channel, body threadBody, owner string) *channel {
	made.guild, made.tags = s.channels[made.parent].guild, body.Tags
	made.thread = &thread{
		owner: owner, autoArchive: cmp.Or(body.AutoArchive, oneDay), members: []string{owner}, made: formatTime(s.now()),
	}
	s.channels[made.ID] = made
	if s.memberPermissions(Bot, made).hasAll(ViewChannel) {
		created := s.wireChannel(made)
		created.NewlyCreated = true
		s.emitEvent(made.guild, "THREAD_CREATE", created)
	}
	return made
}

// createThread starts a thread without a message, or a post in a forum.
func (s *Server) createThread(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	schema := "CreateTextThreadWithoutMessageRequest"
	if at.kind == kindForum {
		schema = "CreateForumThreadRequest"
	}
	if refused := checkSchema(schema, orEmpty(work.body)); refused != nil {
		return nil, refused
	}
	body, refused := decode[threadBody](work.body)
	if refused == nil {
		refused = body.checkName()
	}
	if refused != nil {
		return nil, refused
	}
	if at.kind == kindForum {
		return s.postInForum(work, at, body)
	}
	kind := kindPrivateThread // Discord's default where no type is given
	if body.Type != nil {
		kind = *body.Type
	}
	needed := CreatePublicThreads
	if kind == kindPrivateThread {
		needed = CreatePrivateThreads
	}
	switch {
	case at.kind != kindText && at.kind != kindNews:
		return nil, newRefusal(badRequest, codeWrongChannelType)
	case !s.memberPermissions(Bot, at).hasAll(needed):
		return nil, newRefusal(forbidden, codeMissingPermissions)
	}
	made := s.startThread(&channel{ID: s.newSnowflake(), Name: *body.Name, kind: kind, parent: at.ID}, body, Bot)
	return s.wireChannel(made), nil
}

func (s *Server) postInForum(work *request, at *channel, body threadBody) (any, *refusal) {
	if !s.memberPermissions(Bot, at).hasAll(SendMessages) {
		return nil, newRefusal(forbidden, codeMissingPermissions)
	}
	first, refused := readMessage(body.Message)
	if refused != nil {
		return nil, refused
	}
	id := s.newSnowflake()
	post := &channel{ID: id, Name: *body.Name, kind: kindPublicThread, parent: at.ID, guild: at.guild, thread: &thread{}}
	s.channels[id] = post // the message is checked as one that is in it
	said, refused := s.newAppMessage(work, first, post)
	if refused != nil {
		delete(s.channels, id)
		return nil, refused
	}
	said.ID = id
	made := s.startThread(post, body, Bot)
	s.addMessage(said)
	answered, opening := s.wireChannel(made), s.messageToWire(said)
	answered.Message = &opening
	return answered, nil
}

// changeThread renames, archives, locks or reopens a thread.
func (s *Server) changeThread(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	body, refused := decode[threadBody](work.body)
	if refused == nil {
		refused = body.checkName()
	}
	if refused != nil {
		return nil, refused
	}
	if at.thread == nil {
		return nil, newRefusal(badRequest, codeWrongChannelType)
	}
	manages := s.memberPermissions(Bot, at).hasAll(ManageThreads)
	reopens := body.Archived != nil && !*body.Archived
	switch {
	case at.thread.archived && !reopens:
		return nil, newRefusal(badRequest, codeArchived)
	case !manages && (at.thread.owner != Bot && !reopens || body.Locked != nil || at.thread.locked):
		return nil, newRefusal(forbidden, codeMissingPermissions)
	}
	s.alterThread(at, body)
	return s.wireChannel(at), nil
}

func (s *Server) alterThread(at *channel, body threadBody) {
	if body.Name != nil {
		at.Name = *body.Name
	}
	if body.Archived != nil {
		at.thread.archived = *body.Archived
	}
	if body.Locked != nil {
		at.thread.locked = *body.Locked
	}
	at.thread.autoArchive = cmp.Or(body.AutoArchive, at.thread.autoArchive)
	s.emitEvent(at.guild, "THREAD_UPDATE", s.wireChannel(at))
}

// deleteThread removes a thread; the app may remove no other channel.
func (s *Server) deleteThread(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	if at.thread == nil || !s.memberPermissions(Bot, at).hasAll(ManageThreads) {
		return nil, newRefusal(forbidden, codeMissingPermissions)
	}
	gone := s.wireChannel(at)
	at.deleted = true
	s.emitEvent(at.guild, "THREAD_DELETE", gone)
	return gone, nil
}

func (s *Server) joinThread(work *request) (any, *refusal) {
	at, refused := s.visibleChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	switch {
	case at.thread == nil:
		return nil, newRefusal(badRequest, codeWrongChannelType)
	case at.thread.archived:
		return nil, newRefusal(badRequest, codeArchived)
	}
	if !slices.Contains(at.thread.members, Bot) {
		at.thread.members = append(at.thread.members, Bot)
	}
	return nil, nil
}

type threadList struct {
	Threads []wireChannel      `json:"threads"`
	Members []wireThreadMember `json:"members"`
	HasMore bool               `json:"has_more"`
}

func (s *Server) activeThreads(work *request) (any, *refusal) {
	in, refused := s.joinedGuild(work)
	if refused != nil {
		return nil, refused
	}
	return s.listThreads(in.ID, func(at *channel) bool { return !at.thread.archived }), nil
}

func (s *Server) archivedThreads(work *request) (any, *refusal) {
	at, refused := s.readableChannel(work.PathValue("channel"))
	if refused != nil {
		return nil, refused
	}
	return s.listThreads(at.guild, func(one *channel) bool {
		return one.thread.archived && one.parent == at.ID && one.kind != kindPrivateThread
	}), nil
}

func (s *Server) listThreads(guildID string, wanted func(*channel) bool) threadList {
	found := threadList{Threads: []wireChannel{}, Members: []wireThreadMember{}}
	for _, at := range slices.Backward(s.channelsOf(guildID)) {
		if at.thread != nil && s.memberPermissions(Bot, at).hasAll(ViewChannel) && wanted(at) {
			wired := s.wireChannel(at)
			found.Threads = append(found.Threads, wired)
			if wired.Member != nil {
				found.Members = append(found.Members, *wired.Member)
			}
		}
	}
	return found
}

// Archive closes a thread, or opens it again; lock keeps it from opening by a message.
func (s *Server) Archive(threadID string, archived, lock bool) {
	s.withEvents(func() {
		s.alterThread(s.channels[threadID], threadBody{Archived: &archived, Locked: &lock})
	})
}

func orEmpty(body json.RawMessage) json.RawMessage {
	if len(body) == 0 {
		return json.RawMessage("{}")
	}
	return body
}
