package tools

import (
	"context"
	"slices"

	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// newCell makes a cell with a line of Markdown.
func newCell(content string, header int) *tree.Node {
	cell := tree.NewBlock(tree.TableCell, tree.NewBlock(tree.Paragraph, tree.ParseLine(content)...))
	cell.HeaderState = header
	return cell
}

// findTable gives a table without cells that span others, and how many columns it has.
func (e *edit) findTable(id string) (table *tree.Node, columns int, err error) {
	table, _, err = e.findKind(id, tree.Table)
	if err != nil {
		return nil, 0, err
	}
	for _, row := range table.Children {
		columns = max(columns, len(row.Children))
		for _, cell := range row.Children {
			if cell.ColSpan > 1 || cell.RowSpan > 1 {
				return nil, 0, &Error{Code: WrongKind, Node: cell.ID, Reason: "a cell of the table spans others: rows and columns are changed in the browser's editor"}
			}
		}
	}
	return table, columns, nil
}

func insertTableRow(_ context.Context, e *edit, a struct {
	TableID, ReferenceRowID string
	Position                position
	Cells                   []string
}) error {
	table, columns, err := e.findTable(a.TableID)
	if err != nil {
		return err
	}
	if len(a.Cells) > columns {
		return &Error{Code: InvalidContent, Node: a.TableID, Reason: "there are more cells than columns"}
	}
	at := len(table.Children)
	if a.ReferenceRowID != "" {
		row, parent, err := e.findKind(a.ReferenceRowID, tree.TableRow)
		if err != nil {
			return err
		}
		if parent != table {
			return &Error{Code: InvalidPlace, Node: a.ReferenceRowID, Reason: "the row is of another table"}
		}
		if at = slices.Index(table.Children, row); a.Position != before {
			at++
		}
	}
	row := tree.NewBlock(tree.TableRow)
	for column := range columns {
		content := ""
		if column < len(a.Cells) {
			content = a.Cells[column]
		}
		header := 0 // a column of headers goes on
		if len(table.Children) > 0 {
			if like := table.Children[len(table.Children)-1]; column < len(like.Children) {
				header = like.Children[column].HeaderState & 2
			}
		}
		row.Children = append(row.Children, newCell(content, header))
	}
	table.Children = slices.Insert(table.Children, at, row)
	e.touch(row)
	return nil
}

func insertTableColumn(_ context.Context, e *edit, a struct {
	TableID       string
	ColumnIndex   int
	HeaderContent string
	Cells         []string
}) error {
	table, columns, err := e.findTable(a.TableID)
	if err != nil {
		return err
	}
	if a.ColumnIndex > columns {
		return &Error{Code: InvalidPlace, Node: a.TableID, Reason: "the table has fewer columns"}
	}
	contents := a.Cells
	hasHeader := len(table.Children) > 0 && slices.ContainsFunc(table.Children[0].Children, func(cell *tree.Node) bool { return cell.HeaderState&1 != 0 })
	if hasHeader || a.HeaderContent != "" {
		contents = append([]string{a.HeaderContent}, a.Cells...)
	}
	if len(contents) > len(table.Children) {
		return &Error{Code: InvalidContent, Node: a.TableID, Reason: "there are more cells than rows"}
	}
	for i, row := range table.Children {
		content, header := "", 0
		if i < len(contents) {
			content = contents[i]
		}
		if i == 0 && hasHeader {
			header = 1
		}
		row.Children = slices.Insert(row.Children, min(a.ColumnIndex, len(row.Children)), newCell(content, header))
	}
	if table.ColWidths != nil {
		table.ColWidths = nil // each column has its own again
	}
	e.touch(table)
	return nil
}

func deleteTableRow(_ context.Context, e *edit, a struct{ RowID string }) error {
	row, parent, err := e.findKind(a.RowID, tree.TableRow)
	if err != nil {
		return err
	}
	if _, _, err := e.findTable(parent.ID); err != nil {
		return err
	}
	if len(parent.Children) == 1 {
		return &Error{Code: InvalidPlace, Node: a.RowID, Reason: "it is the last row: delete the table"}
	}
	e.remove(row, parent)
	e.text = a.RowID + " is gone"
	return nil
}

func deleteTableColumn(_ context.Context, e *edit, a struct {
	TableID     string
	ColumnIndex int
}) error {
	table, columns, err := e.findTable(a.TableID)
	if err != nil {
		return err
	}
	if a.ColumnIndex >= columns || columns == 1 {
		return &Error{Code: InvalidPlace, Node: a.TableID, Reason: "the table has no such column, or no other: delete the table"}
	}
	for _, row := range table.Children {
		if a.ColumnIndex < len(row.Children) {
			row.Children = slices.Delete(row.Children, a.ColumnIndex, a.ColumnIndex+1)
		}
	}
	table.ColWidths = nil
	e.touch(table)
	return nil
}

func setTableCell(_ context.Context, e *edit, a struct{ CellID, Content string }) error {
	cell, _, err := e.findKind(a.CellID, tree.TableCell)
	if err != nil {
		return err
	}
	e.touch(cell)
	return setBlocks(cell, a.Content, false)
}
