package slacktest

import (
	"encoding/json"
	"fmt"
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
	maxRows       = 100
	maxColumns    = 20
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

// CheckMessage gives what Slack would refuse about the blocks of a message, and
// whether they are too long all together.
func CheckMessage(blocks json.RawMessage) (problems []Problem, tooLong bool) {
	c := &checker{surface: inMessage, blockIDs: map[string]bool{}}
	c.blocks("/blocks", blocks, maxBlocks)
	return c.problems, c.size > totalLimit
}

func (c *checker) blocks(pointer string, raw json.RawMessage, most int) {
	list, ok := decode[[]json.RawMessage](c, pointer, raw)
	if !ok {
		return
	}
	c.count(pointer, len(list), 0, most)
	for i, block := range list {
		c.block(pointer+"/"+strconv.Itoa(i), block)
	}
	if c.markdown > maxMarkdown {
		c.fail(pointer, "markdown blocks must be less than %d characters in total", maxMarkdown+1)
	}
	if c.tables > 1 {
		c.fail(pointer, "only_one_table_allowed")
	}
}

func (c *checker) block(pointer string, raw json.RawMessage) {
	is, ok := c.kindOf(pointer, raw)
	if !ok {
		return
	}
	c.size += elementCosts
	switch is.Type {
	case "section":
		c.section(pointer, raw)
	case "divider":
		c.divider(pointer, raw)
	case "header":
		c.header(pointer, raw)
	case "context":
		c.context(pointer, raw)
	case "actions":
		c.actions(pointer, raw)
	case "context_actions":
		c.contextActions(pointer, raw)
	case "rich_text":
		c.richText(pointer, raw)
	case "markdown":
		c.markdownBlock(pointer, raw)
	case "table":
		c.table(pointer, raw)
	case "image":
		c.image(pointer, raw)
	case "input":
		c.input(pointer, raw)
	default:
		c.fail(pointer+"/type", "unsupported type: %s", is.Type)
	}
}

// kindOf tells what a block or element is; false for what is no object.
func (c *checker) kindOf(pointer string, raw json.RawMessage) (kind, bool) {
	var is kind
	if err := json.Unmarshal(raw, &is); err != nil {
		c.fail(pointer, "must be an object with a type")
		return kind{}, false
	}
	return is, true
}

// row is a block that holds elements.
type row struct {
	kind
	BlockID  string            `json:"block_id"`
	Elements []json.RawMessage `json:"elements"`
}

// row reads a block of 1 to most elements and has each of them checked.
func (c *checker) row(pointer string, raw json.RawMessage, most int, check func(at string, element json.RawMessage)) {
	block, ok := decode[row](c, pointer, raw)
	if !ok {
		return
	}
	c.blockID(pointer, block.BlockID)
	c.each(pointer, block.Elements, most, check)
}

// each checks 1 to most elements.
func (c *checker) each(pointer string, elements []json.RawMessage, most int, check func(at string, element json.RawMessage)) {
	c.count(pointer+"/elements", len(elements), 1, most)
	for i, element := range elements {
		check(pointer+"/elements/"+strconv.Itoa(i), element)
	}
}

func (c *checker) blockID(pointer, id string) {
	c.length(pointer+"/block_id", id, 0, maxID)
	if id != "" && c.blockIDs[id] {
		c.fail(pointer+"/block_id", "block_id %q already exists", id)
	}
	c.blockIDs[id] = true
}

// textObject checks a text object of at most limit characters. plain allows
// plain_text alone.
func (c *checker) textObject(pointer string, t *text, limit int, plain bool) {
	switch {
	case t == nil:
		c.fail(pointer, "missing required field: text")
		return
	case t.Type != "plain_text" && (plain || t.Type != "mrkdwn"):
		c.fail(pointer+"/type", "unsupported type: %s", t.Type)
	case t.Type == "mrkdwn" && t.Emoji != nil:
		c.fail(pointer, "invalid additional property: emoji")
	case t.Type == "plain_text" && t.Verbatim != nil:
		c.fail(pointer, "invalid additional property: verbatim")
	}
	c.length(pointer+"/text", t.Text, 1, limit)
	c.size += Length(t.Text)
}

func (c *checker) section(pointer string, raw json.RawMessage) {
	block, ok := decode[struct {
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
		c.fail(pointer, "missing required field: text")
	}
	if block.Text != nil {
		c.textObject(pointer+"/text", block.Text, maxSection, false)
	}
	c.count(pointer+"/fields", len(block.Fields), 0, maxFields)
	for i, field := range block.Fields {
		c.textObject(pointer+"/fields/"+strconv.Itoa(i), field, maxField, false)
	}
	if block.Accessory != nil {
		c.element(pointer+"/accessory", block.Accessory, accessories)
	}
}

func (c *checker) divider(pointer string, raw json.RawMessage) {
	block, ok := decode[struct {
		kind
		BlockID string `json:"block_id"`
	}](c, pointer, raw)
	if ok {
		c.blockID(pointer, block.BlockID)
	}
}

func (c *checker) header(pointer string, raw json.RawMessage) {
	block, ok := decode[struct {
		kind
		BlockID string `json:"block_id"`
		Text    *text  `json:"text"`
	}](c, pointer, raw)
	if ok {
		c.blockID(pointer, block.BlockID)
		c.textObject(pointer+"/text", block.Text, maxHeader, true)
	}
}

func (c *checker) context(pointer string, raw json.RawMessage) {
	c.row(pointer, raw, maxContext, func(at string, element json.RawMessage) {
		var is kind
		if err := json.Unmarshal(element, &is); err == nil && is.Type == "image" {
			c.imageElement(at, element)
			return
		}
		if object, ok := decode[*text](c, at, element); ok {
			// No limit is documented here; that of other text objects is taken.
			c.textObject(at, object, maxSection, false)
		}
	})
}

func (c *checker) actions(pointer string, raw json.RawMessage) {
	c.buttons(pointer, raw, maxActions, interactive)
}

func (c *checker) contextActions(pointer string, raw json.RawMessage) {
	if c.surface != inMessage {
		c.fail(pointer+"/type", "unsupported type: context_actions")
	}
	c.buttons(pointer, raw, maxAgentElems, agentic)
}

// buttons checks a block of elements that people use, each with an id of its own.
func (c *checker) buttons(pointer string, raw json.RawMessage, most int, allowed []string) {
	ids := map[string]bool{}
	c.row(pointer, raw, most, func(at string, element json.RawMessage) {
		id := c.element(at, element, allowed)
		if id != "" && ids[id] {
			c.fail(at+"/action_id", "action_id %q already exists", id)
		}
		ids[id] = true
	})
}

func (c *checker) markdownBlock(pointer string, raw json.RawMessage) {
	block, ok := decode[struct {
		kind
		BlockID string `json:"block_id"`
		Text    string `json:"text"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if c.surface != inMessage {
		c.fail(pointer+"/type", "unsupported type: markdown")
	}
	c.blockID(pointer, block.BlockID)
	c.length(pointer+"/text", block.Text, 1, maxMarkdown)
	c.markdown += Length(block.Text)
	c.size += Length(block.Text)
}

func (c *checker) image(pointer string, raw json.RawMessage) {
	block, ok := decode[struct {
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
		c.address(pointer+"/image_url", block.ImageURL)
	case block.ImageURL != "" || (block.File.ID == "") == (block.File.URL == ""):
		c.fail(pointer, "want one of image_url, slack_file.id and slack_file.url")
	case block.File.ID != "":
		c.files = append(c.files, block.File.ID)
	}
	c.length(pointer+"/alt_text", block.AltText, 1, maxAltText)
	if block.Title != nil {
		c.textObject(pointer+"/title", block.Title, 2000, true)
	}
}

// address refuses what no link may lead to.
func (c *checker) address(pointer, address string) {
	c.length(pointer, address, 1, maxURL)
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" || (parsed.Host == "" && parsed.Opaque == "") {
		c.fail(pointer, "must be a valid url")
	}
}

func (c *checker) table(pointer string, raw json.RawMessage) {
	block, ok := decode[struct {
		kind
		BlockID  string              `json:"block_id"`
		Rows     [][]json.RawMessage `json:"rows"`
		Settings []struct {
			Align     string `json:"align"`
			IsWrapped bool   `json:"is_wrapped"`
		} `json:"column_settings"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if c.surface != inMessage {
		c.fail(pointer+"/type", "unsupported type: table")
	}
	c.tables++
	c.blockID(pointer, block.BlockID)
	c.count(pointer+"/rows", len(block.Rows), 1, maxRows)
	c.count(pointer+"/column_settings", len(block.Settings), 0, maxColumns)
	for i, row := range block.Rows {
		c.count(fmt.Sprintf("%s/rows/%d", pointer, i), len(row), 1, maxColumns)
		for j, cell := range row {
			c.cell(fmt.Sprintf("%s/rows/%d/%d", pointer, i, j), cell)
		}
	}
}

func (c *checker) cell(pointer string, raw json.RawMessage) {
	var is kind
	if err := json.Unmarshal(raw, &is); err == nil && is.Type == "rich_text" {
		c.richText(pointer, raw)
		return
	}
	cell, ok := decode[struct {
		kind
		Text string `json:"text"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if cell.Type != "raw_text" {
		c.fail(pointer+"/type", "unsupported type: %s", cell.Type)
	}
	c.length(pointer+"/text", cell.Text, 1, maxSection)
	c.size += Length(cell.Text) + elementCosts
}
