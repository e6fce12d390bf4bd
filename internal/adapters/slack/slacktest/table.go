package slacktest

import (
	"encoding/json"
	"fmt"
)

// Documented limits of a table block. A message has one; its cells hold so many characters all
// together.
const (
	maxTableRows    = 100
	maxTableColumns = 20
	maxTableText    = 10000
)

// errOneTable is what Slack says of a second table. It refuses the attachments, not the blocks:
// tables are kept as such.
const errOneTable = "only_one_table_allowed"

// checkTable checks a table block. That rows are of equal length is a guess.
func (c *checker) checkTable(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID  string              `json:"block_id"`
		Rows     [][]json.RawMessage `json:"rows"`
		Settings []struct {
			Align     *string `json:"align"`
			IsWrapped bool    `json:"is_wrapped"`
		} `json:"column_settings"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if c.surface == inModal {
		c.addProblem(pointer+"/type", "unsupported type: table")
	}
	c.tables++
	c.blockID(pointer, block.BlockID)
	c.checkCount(pointer+"/rows", len(block.Rows), 1, maxTableRows)
	c.checkCount(pointer+"/column_settings", len(block.Settings), 0, maxTableColumns)
	for i, column := range block.Settings {
		if column.Align == nil {
			continue
		}
		switch *column.Align {
		case "left", "center", "right":
		default:
			c.addProblem(fmt.Sprintf("%s/column_settings/%d/align", pointer, i), "must be one of left, center, right")
		}
	}
	for i, row := range block.Rows {
		at := fmt.Sprintf("%s/rows/%d", pointer, i)
		c.checkCount(at, len(row), 1, maxTableColumns)
		if len(row) != len(block.Rows[0]) {
			c.addProblem(at, "must have as many cells as the first row")
		}
		for j, cell := range row {
			c.checkCell(fmt.Sprintf("%s/%d", at, j), cell)
		}
	}
}

// checkCell checks a cell of text, plain or rich; Slack's own numbers are refused where an app
// sends them.
func (c *checker) checkCell(pointer string, raw json.RawMessage) {
	var is kind
	if err := json.Unmarshal(raw, &is); err == nil && is.Type == "rich_text" {
		before := c.text
		c.richText(pointer, raw)
		c.tableText += c.text - before
		return
	}
	cell, ok := decodeField[struct {
		kind
		Text string `json:"text"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if cell.Type != "raw_text" {
		c.addProblem(pointer+"/type", "unsupported type: %s", cell.Type)
	}
	c.checkLength(pointer+"/text", cell.Text, 1, maxText)
	c.tableText += Length(cell.Text)
	c.size += Length(cell.Text) + elementCosts
}
