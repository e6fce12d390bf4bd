package discordtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Limits of messages that the description lacks or has otherwise.
const (
	maxContent    = 2000
	maxEmbedTotal = 6000
	maxComponents = 40
	maxRows       = 5
	maxDisplayed  = 4000
)

// Length counts a text in UTF-16 units: the greatest of the counts that Discord's
// "characters" may mean.
func Length(text string) int { return len(utf16.Encode([]rune(text))) }

// messageBody is the body of a request that makes or changes a message.
type messageBody struct {
	given map[string]json.RawMessage

	Content         string           `json:"content"`
	Embeds          json.RawMessage  `json:"embeds"`
	Components      json.RawMessage  `json:"components"`
	Flags           int              `json:"flags"`
	AllowedMentions *allowedMentions `json:"allowed_mentions"`
	Attachments     []struct {
		ID          string `json:"id"`
		Filename    string `json:"filename"`
		Description string `json:"description"`
	} `json:"attachments"`
	Nonce        json.RawMessage `json:"nonce"`
	EnforceNonce bool            `json:"enforce_nonce"`
	Reference    *struct {
		MessageID       string `json:"message_id"`
		ChannelID       string `json:"channel_id"`
		Type            int    `json:"type"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Stickers []string        `json:"sticker_ids"`
	Poll     json.RawMessage `json:"poll"`
}

type embed struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Color       int    `json:"color"`
	Footer      struct {
		Text string `json:"text"`
	} `json:"footer"`
	Author struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"author"`
	Fields []struct {
		Name   string `json:"name"`
		Value  string `json:"value"`
		Inline bool   `json:"inline"`
	} `json:"fields"`
	Image struct {
		URL string `json:"url"`
	} `json:"image"`
	Thumbnail struct {
		URL string `json:"url"`
	} `json:"thumbnail"`
}

// textLength returns what of an embed counts.
func (e embed) textLength() int {
	total := Length(e.Title) + Length(e.Description) + Length(e.Footer.Text) + Length(e.Author.Name)
	for _, field := range e.Fields {
		total += Length(field.Name) + Length(field.Value)
	}
	return total
}

func (e embed) isEmpty() bool {
	return e.textLength() == 0 && e.Image.URL == "" && e.Thumbnail.URL == ""
}

// readMessage takes apart the body of a message, which has passed its schema.
func readMessage(body json.RawMessage) (*messageBody, *refusal) {
	read, refused := decode[messageBody](body)
	if refused == nil {
		read.given, refused = decode[map[string]json.RawMessage](body)
	}
	return &read, refused
}

// hasField reports whether a field is there; null is.
func (b *messageBody) hasField(field string) bool { return b.given[field] != nil }

// nonceText returns the nonce as text, "" where there is none.
func (b *messageBody) nonceText() string {
	nonce := strings.Trim(string(b.Nonce), `"`)
	if nonce == "null" {
		return ""
	}
	return nonce
}

// applyBody puts a body into a message, new or old, after it was checked as a whole: what
// the message would be is what counts. The flags are those that may be set.
func (s *Server) applyBody(work *request, body *messageBody, said *message, flags int) *refusal {
	var form formErrors
	body.AllowedMentions.checkLists(&form)
	if body.Flags&^flags != 0 {
		form.addError([]string{"flags"}, "FLAGS_INVALID", "Only "+strconv.Itoa(flags)+" may be set here.")
	}
	if body.hasField("content") {
		said.Content = strings.TrimSpace(body.Content)
	}
	if body.hasField("embeds") {
		said.Embeds = completeEmbeds(nonEmpty(body.Embeds))
	}
	if body.hasField("components") {
		said.Components = numberComponents(nonEmpty(body.Components))
	}
	if body.hasField("flags") {
		said.Flags = said.Flags&^flagSuppressEmbeds | body.Flags
	}
	form.checkMax(Length(said.Content), maxContent, "content")
	checkEmbeds(said.Embeds, &form)
	parts := decodeComponents(said.Components)
	checkComponents(parts, said.Flags&flagComponentsV2 != 0, &form)
	if said.Flags&flagComponentsV2 != 0 {
		for field, used := range map[string]bool{"content": said.Content != "", "embeds": said.Embeds != nil, "sticker_ids": len(body.Stickers) > 0, "poll": nonEmpty(body.Poll) != nil} {
			if used {
				form.addError([]string{field}, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'MessageFlags.IS_COMPONENTS_V2' message flag prevents using this field.")
			}
		}
	}
	s.attachFiles(work, body, said, &form)
	if refused := form.toRefusal(); refused != nil {
		return refused
	}
	if said.Content == "" && said.Embeds == nil && len(parts) == 0 && len(said.Attachments) == 0 && len(body.Stickers) == 0 && nonEmpty(body.Poll) == nil {
		return newRefusal(badRequest, codeEmptyMessage)
	}
	s.resolveMentions(said, said.Content+"\n"+displayedText(parts), body.AllowedMentions)
	return nil
}

// nonEmpty is nil for an empty array and for null.
func nonEmpty(list json.RawMessage) json.RawMessage {
	if text := strings.TrimSpace(string(list)); text == "" || text == "null" || text == "[]" {
		return nil
	}
	return list
}

// completeEmbeds returns embeds as Discord keeps them, with the fields that were not given.
func completeEmbeds(list json.RawMessage) json.RawMessage {
	if list == nil {
		return nil
	}
	kept := decodeObjects(list)
	for _, one := range kept {
		one["type"] = json.RawMessage(`"rich"`)
		if fields := nonEmpty(one["fields"]); fields != nil {
			all := decodeObjects(fields)
			for _, field := range all {
				if nonNull(field["inline"]) == nil {
					field["inline"] = json.RawMessage("false")
				}
			}
			one["fields"] = mustJSON(all)
		}
	}
	return mustJSON(kept)
}

func decodeObjects(list json.RawMessage) []map[string]json.RawMessage {
	var found []map[string]json.RawMessage
	if err := json.Unmarshal(list, &found); err != nil {
		panic("discordtest: a list that passed its schema: " + err.Error())
	}
	return found
}

func decodeEmbeds(list json.RawMessage) []embed {
	var found []embed
	if list != nil {
		if err := json.Unmarshal(list, &found); err != nil {
			panic("discordtest: embeds that passed their schema: " + err.Error())
		}
	}
	return found
}

func checkEmbeds(list json.RawMessage, form *formErrors) {
	total := 0
	for i, one := range decodeEmbeds(list) {
		at := []string{"embeds", strconv.Itoa(i)}
		if one.isEmpty() {
			form.checkPresent("", append(at, "description"))
		}
		field := func(names ...string) []string { return slices.Concat(at, names) }
		form.checkMax(Length(one.Title), 256, field("title")...)
		form.checkMax(Length(one.Description), 4096, field("description")...)
		form.checkMax(Length(one.Footer.Text), 2048, field("footer", "text")...)
		form.checkMax(Length(one.Author.Name), 256, field("author", "name")...)
		for n, is := range one.Fields {
			name, value := field("fields", strconv.Itoa(n), "name"), field("fields", strconv.Itoa(n), "value")
			form.checkPresent(is.Name, name)
			form.checkPresent(is.Value, value)
			form.checkMax(Length(is.Name), 256, name...)
			form.checkMax(Length(is.Value), 1024, value...)
		}
		total += one.textLength()
	}
	if total > maxEmbedTotal {
		form.addError([]string{"embeds"}, "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
}

// attachFiles puts the request's files into the message, and drops those that an edit doesn't
// keep.
func (s *Server) attachFiles(work *request, body *messageBody, said *message, form *formErrors) {
	described, kept := map[string]string{}, []Attachment{}
	for i, one := range body.Attachments {
		described[one.ID] = one.Description
		old := slices.IndexFunc(said.Attachments, func(a Attachment) bool { return a.ID == one.ID })
		n, err := strconv.Atoi(one.ID)
		_, ok := work.files[n]
		switch {
		case old >= 0:
			kept = append(kept, said.Attachments[old])
		case err != nil || !ok:
			form.addError([]string{"attachments", strconv.Itoa(i), "id"}, "ATTACHMENT_NOT_FOUND", "No file files["+one.ID+"] came along.")
		}
	}
	if body.hasField("attachments") {
		said.Attachments = kept
	}
	if len(said.Attachments)+len(work.files) > 10 {
		form.addError([]string{"attachments"}, "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
		return
	}
	for n := range 100 {
		if came, ok := work.files[n]; ok {
			said.Attachments = append(said.Attachments, s.storeFile(said.Channel, came, described[strconv.Itoa(n)]))
		}
	}
}
