package slacktest

import "encoding/json"

// richText checks a rich_text block. Its limits are not documented but for the total;
// what is checked is that each element is of a known kind, with what that kind needs.
func (c *checker) richText(pointer string, raw json.RawMessage) {
	c.checkRow(pointer, raw, 1000, c.richElement)
}

func (c *checker) richElement(pointer string, raw json.RawMessage) {
	is, ok := c.kindOf(pointer, raw)
	if !ok {
		return
	}
	c.size += elementCosts
	switch is.Type {
	case "rich_text_section":
		section, ok := decodeField[struct {
			kind
			Elements []json.RawMessage `json:"elements"`
		}](c, pointer, raw)
		if ok {
			c.checkRichElements(pointer, section.Elements, false)
		}
	case "rich_text_list":
		c.richList(pointer, raw)
	case "rich_text_quote", "rich_text_preformatted":
		element, ok := decodeField[struct {
			kind
			Elements []json.RawMessage `json:"elements"`
			Border   int               `json:"border"`
			Language string            `json:"language"`
		}](c, pointer, raw)
		if ok {
			c.checkRichElements(pointer, element.Elements, is.Type == "rich_text_preformatted")
		}
	default:
		c.addProblem(pointer+"/type", "unsupported type: %s", is.Type)
	}
}

func (c *checker) richList(pointer string, raw json.RawMessage) {
	list, ok := decodeField[struct {
		kind
		Style    string            `json:"style"`
		Indent   int               `json:"indent"`
		Offset   int               `json:"offset"`
		Border   int               `json:"border"`
		Elements []json.RawMessage `json:"elements"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if list.Style != "bullet" && list.Style != "ordered" {
		c.addProblem(pointer+"/style", "must be one of bullet, ordered")
	}
	if list.Indent < 0 || list.Indent > 8 { // the deepest that Slack's own editor makes
		c.addProblem(pointer+"/indent", "must be between 0 and 8")
	}
	c.checkEach(pointer, list.Elements, 1000, func(at string, item json.RawMessage) {
		var is kind
		if err := json.Unmarshal(item, &is); err != nil || is.Type != "rich_text_section" {
			c.addProblem(at+"/type", "unsupported type: %s", is.Type)
			return
		}
		c.richElement(at, item)
	})
}

// richRun is an inline element.
type richRun struct {
	kind
	Text   string `json:"text"`
	URL    string `json:"url"`
	UserID string `json:"user_id"`
	Range  string `json:"range"`
	Name   string `json:"name"`
	Style  *struct {
		Bold   bool `json:"bold"`
		Italic bool `json:"italic"`
		Strike bool `json:"strike"`
		Code   bool `json:"code"`
	} `json:"style"`
	Unsafe    *bool  `json:"unsafe"`
	ChannelID string `json:"channel_id"`
	GroupID   string `json:"usergroup_id"`
}

func (c *checker) checkRichElements(pointer string, elements []json.RawMessage, preformatted bool) {
	c.checkEach(pointer, elements, 10000, func(at string, raw json.RawMessage) {
		run, ok := decodeField[richRun](c, at, raw)
		if !ok {
			return
		}
		c.text += Length(run.Text)
		c.size += elementCosts + Length(run.Text) + Length(run.URL)
		switch run.Type {
		case "text":
			c.checkLength(at+"/text", run.Text, 1, 40000)
		case "link":
			c.checkAddress(at+"/url", run.URL)
		case "user", "broadcast", "emoji", "channel", "usergroup":
			if preformatted {
				c.addProblem(at+"/type", "unsupported type: %s", run.Type)
			}
		default:
			c.addProblem(at+"/type", "unsupported type: %s", run.Type)
		}
		if run.Type == "user" && run.UserID == "" {
			c.addProblem(at, "missing required field: user_id")
		}
	})
}
