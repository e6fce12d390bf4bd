package slacktest

import (
	"encoding/json"
	"net/url"
	"strconv"
)

// surface is where blocks stand: not every block may stand everywhere.
type surface string

const (
	inMessage surface = "message"
	inModal   surface = "modal"
	inHome    surface = "home"
)

// Documented limits, and one that was found by people who ran into it.
const (
	maxBlocks     = 50
	maxViewBlocks = 100
	maxSection    = 3000
	maxField      = 2000
	maxFields     = 10
	maxHeader     = 150
	maxContext    = 10
	maxActions    = 25
	maxAgentElems = 5 // context_actions
	maxID         = 255
	maxMarkdown   = 12000 // over all markdown blocks of a message
	maxURL        = 3000
	maxAltText    = 2000
	// totalLimit is on the text of all blocks together; beyond it Slack says
	// msg_blocks_too_long. It is not documented: markdown alone was seen to fail above
	// 13,297 characters, rich text with links sooner. So addresses and elements are counted
	// as well.
	totalLimit   = 13000
	elementCosts = 16
)

type kind struct {
	Type string `json:"type"`
}

// text is a text object.
type text struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji"`
	Verbatim *bool  `json:"verbatim"`
}

// CheckMessage returns what Slack would refuse about the blocks of a message, and
// whether they are too long all together.
func CheckMessage(blocks json.RawMessage) (problems []Problem, tooLong bool) {
	c := &checker{surface: inMessage, blockIDs: map[string]bool{}}
	c.checkBlocks("/blocks", blocks, maxBlocks)
	return c.problems, c.size > totalLimit
}

func (c *checker) checkBlocks(pointer string, raw json.RawMessage, most int) {
	list, ok := decodeField[[]json.RawMessage](c, pointer, raw)
	if !ok {
		return
	}
	c.checkCount(pointer, len(list), 0, most)
	for i, block := range list {
		c.checkBlock(pointer+"/"+strconv.Itoa(i), block)
	}
	if c.markdown > maxMarkdown {
		c.addProblem(pointer, "markdown blocks must be less than %d characters in total", maxMarkdown+1)
	}
	if c.tables > 1 {
		c.addProblem(pointer, errOneTable)
	}
	if c.tableText > maxTableText {
		c.addProblem(pointer, "text of table cells must be less than %d characters in total", maxTableText+1)
	}
}

func (c *checker) checkBlock(pointer string, raw json.RawMessage) {
	is, ok := c.kindOf(pointer, raw)
	if !ok {
		return
	}
	c.size += elementCosts
	switch is.Type {
	case "section":
		c.checkSection(pointer, raw)
	case "divider":
		c.checkDivider(pointer, raw)
	case "header":
		c.checkHeader(pointer, raw)
	case "context":
		c.checkContext(pointer, raw)
	case "actions":
		c.checkActions(pointer, raw)
	case "context_actions":
		c.contextActions(pointer, raw)
	case "rich_text":
		c.richText(pointer, raw)
	case "markdown":
		c.markdownBlock(pointer, raw)
	case "table":
		c.checkTable(pointer, raw)
	case "image":
		c.checkImage(pointer, raw)
	case "input":
		c.checkInput(pointer, raw)
	default:
		c.addProblem(pointer+"/type", "unsupported type: %s", is.Type)
	}
}

// kindOf returns what a block or element is; false for what is no object.
func (c *checker) kindOf(pointer string, raw json.RawMessage) (kind, bool) {
	var is kind
	if err := json.Unmarshal(raw, &is); err != nil {
		c.addProblem(pointer, "must be an object with a type")
		return kind{}, false
	}
	return is, true
}

// elementsBlock is a block that holds elements.
type elementsBlock struct {
	kind
	BlockID  string            `json:"block_id"`
	Elements []json.RawMessage `json:"elements"`
}

// checkRow reads a block of 1 to most elements and has each of them checked.
func (c *checker) checkRow(pointer string, raw json.RawMessage, most int, check func(at string, element json.RawMessage)) {
	block, ok := decodeField[elementsBlock](c, pointer, raw)
	if !ok {
		return
	}
	c.blockID(pointer, block.BlockID)
	c.checkEach(pointer, block.Elements, most, check)
}

// checkEach checks 1 to most elements.
func (c *checker) checkEach(pointer string, elements []json.RawMessage, most int, check func(at string, element json.RawMessage)) {
	c.checkCount(pointer+"/elements", len(elements), 1, most)
	for i, element := range elements {
		check(pointer+"/elements/"+strconv.Itoa(i), element)
	}
}

func (c *checker) blockID(pointer, id string) {
	c.checkLength(pointer+"/block_id", id, 0, maxID)
	if id != "" && c.blockIDs[id] {
		c.addProblem(pointer+"/block_id", "block_id %q already exists", id)
	}
	c.blockIDs[id] = true
}

// textObject checks a text object of at most limit characters. plain allows
// plain_text alone.
func (c *checker) textObject(pointer string, t *text, limit int, plain bool) {
	switch {
	case t == nil:
		c.addProblem(pointer, "missing required field: text")
		return
	case t.Type != "plain_text" && (plain || t.Type != "mrkdwn"):
		c.addProblem(pointer+"/type", "unsupported type: %s", t.Type)
	case t.Type == "mrkdwn" && t.Emoji != nil:
		c.addProblem(pointer, "invalid additional property: emoji")
	case t.Type == "plain_text" && t.Verbatim != nil:
		c.addProblem(pointer, "invalid additional property: verbatim")
	}
	c.checkLength(pointer+"/text", t.Text, 1, limit)
	c.size += Length(t.Text)
}

func (c *checker) checkSection(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID   string          `json:"block_id"`
		Text      *text           `json:"text"`
		Fields    []*text         `json:"fields"`
		Accessory json.RawMessage `json:"accessory"`
		Expand    *bool           `json:"expand"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	c.blockID(pointer, block.BlockID)
	if block.Text == nil && len(block.Fields) == 0 {
		c.addProblem(pointer, "missing required field: text")
	}
	if block.Text != nil {
		c.textObject(pointer+"/text", block.Text, maxSection, false)
	}
	c.checkCount(pointer+"/fields", len(block.Fields), 0, maxFields)
	for i, field := range block.Fields {
		c.textObject(pointer+"/fields/"+strconv.Itoa(i), field, maxField, false)
	}
	if block.Accessory != nil {
		c.checkElement(pointer+"/accessory", block.Accessory, accessoryTypes)
	}
}

func (c *checker) checkDivider(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID string `json:"block_id"`
	}](c, pointer, raw)
	if ok {
		c.blockID(pointer, block.BlockID)
	}
}

func (c *checker) checkHeader(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID string `json:"block_id"`
		Text    *text  `json:"text"`
	}](c, pointer, raw)
	if ok {
		c.blockID(pointer, block.BlockID)
		c.textObject(pointer+"/text", block.Text, maxHeader, true)
	}
}

func (c *checker) checkContext(pointer string, raw json.RawMessage) {
	c.checkRow(pointer, raw, maxContext, func(at string, element json.RawMessage) {
		var is kind
		if err := json.Unmarshal(element, &is); err == nil && is.Type == "image" {
			c.imageElement(at, element)
			return
		}
		if object, ok := decodeField[*text](c, at, element); ok {
			// No limit is documented here; that of other text objects is taken.
			c.textObject(at, object, maxSection, false)
		}
	})
}

func (c *checker) checkActions(pointer string, raw json.RawMessage) {
	c.checkInteractive(pointer, raw, maxActions, interactiveTypes)
}

func (c *checker) contextActions(pointer string, raw json.RawMessage) {
	if c.surface != inMessage {
		c.addProblem(pointer+"/type", "unsupported type: context_actions")
	}
	c.checkInteractive(pointer, raw, maxAgentElems, agenticTypes)
}

// checkInteractive checks a block of elements that people use, each with an id of its own.
func (c *checker) checkInteractive(pointer string, raw json.RawMessage, most int, allowed []string) {
	ids := map[string]bool{}
	c.checkRow(pointer, raw, most, func(at string, element json.RawMessage) {
		id := c.checkElement(at, element, allowed)
		if id != "" && ids[id] {
			c.addProblem(at+"/action_id", "action_id %q already exists", id)
		}
		ids[id] = true
	})
}

func (c *checker) markdownBlock(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID string `json:"block_id"`
		Text    string `json:"text"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if c.surface != inMessage {
		c.addProblem(pointer+"/type", "unsupported type: markdown")
	}
	c.blockID(pointer, block.BlockID)
	c.checkLength(pointer+"/text", block.Text, 1, maxMarkdown)
	c.markdown += Length(block.Text)
	c.size += Length(block.Text)
}

func (c *checker) checkImage(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID  string `json:"block_id"`
		ImageURL string `json:"image_url"`
		AltText  string `json:"alt_text"`
		Title    *text  `json:"title"`
		File     *struct {
			ID  string `json:"id"`
			URL string `json:"url"`
		} `json:"slack_file"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	c.blockID(pointer, block.BlockID)
	switch {
	case block.File == nil:
		c.checkAddress(pointer+"/image_url", block.ImageURL)
	case block.ImageURL != "" || (block.File.ID == "") == (block.File.URL == ""):
		c.addProblem(pointer, "want one of image_url, slack_file.id and slack_file.url")
	case block.File.ID != "":
		c.files = append(c.files, block.File.ID)
	}
	c.checkLength(pointer+"/alt_text", block.AltText, 1, maxAltText)
	if block.Title != nil {
		c.textObject(pointer+"/title", block.Title, 2000, true)
	}
}

// checkAddress refuses what no link may lead to.
func (c *checker) checkAddress(pointer, address string) {
	c.checkLength(pointer, address, 1, maxURL)
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" || (parsed.Host == "" && parsed.Opaque == "") {
		c.addProblem(pointer, "must be a valid url")
	}
}
