package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Bounds of a workbook that is read. What follows many empty rows is a stray cell.
const (
	maxSheets    = 500
	maxEmptyRows = 10_000
	// unpackedFactor is how many times as large as Limits.Bytes a workbook may unpack to, and
	// partMemory how large a part of it is held in memory: a larger one goes to a temporary file.
	unpackedFactor = 8
	partMemory     = 4 << 20
)

// parseXLSX reads a workbook: a section for each sheet, and below its name the rows a few at a time,
// each time under the names of the columns. Anchors are "sheet=2&rows=5-24". What a formula gave is
// read as it was saved, and hidden sheets are left out.
func parseXLSX(ctx context.Context, in input) (text Text, err error) {
	if err := checkUnpacked(ctx, in); err != nil {
		return Text{}, err
	}
	defer func() { // the library panics at some broken files
		if cause := recover(); cause != nil {
			text, err = Text{}, &BrokenError{Name: in.name, Format: "XLSX", Err: fmt.Errorf("%v", cause)}
		}
	}()
	book, err := excelize.OpenReader(bytes.NewReader(in.content), excelize.Options{UnzipSizeLimit: unpackedFactor * in.limits.Bytes, UnzipXMLSizeLimit: partMemory})
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "XLSX", Err: err}
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	reader := &workbook{ctx: ctx, in: in, book: book, outline: newOutline()}
	if properties, err := book.GetDocProps(); err == nil {
		reader.facts = Text{Title: properties.Title, Language: properties.Language}
	}
	for number, name := range book.GetSheetList() {
		visible, err := book.GetSheetVisible(name)
		if err != nil || !visible || number >= maxSheets {
			continue
		}
		if err := reader.readSheet(number+1, name); err != nil {
			return Text{}, err
		}
	}
	text = reader.facts
	text.Sections = reader.outline.finished()
	return text, nil
}

// checkUnpacked refuses a workbook whose files unpack to more than the limits, as its index says;
// no reader gives more than that.
func checkUnpacked(ctx context.Context, in input) error {
	const free = 1 << 20 // bytes of a file that may be packed in any ratio
	opened, err := openArchive(ctx, "XLSX", in)
	if err != nil {
		return err
	}
	var all uint64
	for _, part := range opened.parts {
		all += part.UncompressedSize64
		if all > unpackedFactor*uint64(in.limits.Bytes) || part.UncompressedSize64 > free && part.UncompressedSize64/uint64(in.limits.Ratio) > part.CompressedSize64 {
			return &TooLargeError{Name: in.name, What: "bytes when unpacked", Limit: unpackedFactor * in.limits.Bytes}
		}
	}
	return nil
}

// workbook is a workbook that is read.
type workbook struct {
	ctx     context.Context //nolint:containedctx // of one call of parseXLSX
	in      input
	book    *excelize.File
	facts   Text // what the workbook says of itself
	outline *outline
	rows    int   // of all sheets
	bytes   int64 // of all cells
}

// readSheet reads the rows of one sheet; number is from 1.
func (w *workbook) readSheet(number int, name string) (err error) {
	rows, err := w.book.Rows(name)
	if err != nil {
		return &BrokenError{Name: w.in.name, Format: "XLSX", Err: fmt.Errorf("sheet %s: %w", name, err)}
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	w.outline.heading(1, oneLine(name), fmt.Sprintf("sheet=%d", number))
	group := tableGroup{outline: w.outline, anchor: func(first, last int) string { return fmt.Sprintf("sheet=%d&rows=%d-%d", number, first, last) }}
	var header []string
	empty := 0
	for at := 1; rows.Next(); at++ {
		if w.ctx.Err() != nil {
			return fmt.Errorf("parse %s: %w", w.in.name, w.ctx.Err())
		}
		row, err := rows.Columns()
		if err != nil {
			return &BrokenError{Name: w.in.name, Format: "XLSX", Err: fmt.Errorf("sheet %s, row %d: %w", name, at, err)}
		}
		row, filled := w.trimRow(row)
		if filled == 0 {
			if empty++; empty > maxEmptyRows {
				break
			}
			continue
		}
		empty = 0
		if w.rows++; w.rows > maxTableRows {
			return &TooLargeError{Name: w.in.name, What: "rows", Limit: maxTableRows}
		}
		if w.bytes > w.in.limits.Bytes {
			return &TooLargeError{Name: w.in.name, What: "bytes of cells", Limit: w.in.limits.Bytes}
		}
		switch {
		case header == nil && filled == 1: // a title or a remark above the table
			w.outline.add(Paragraph, oneLine(strings.Join(row, " ")))
		case header == nil:
			header = row
			group.rows, group.first, group.last = [][]string{header}, at, at
		default:
			group.add(header, row, at, at)
			if _, err := w.in.spill(w.facts, w.outline); err != nil {
				return err
			}
		}
	}
	group.flush()
	return nil
}

// maxColumns is how many columns of a table are read.
const maxColumns = 200

// trimRow leaves out the empty cells at a row's end, and counts those that are filled.
func (w *workbook) trimRow(row []string) (trimmed []string, filled int) {
	row = row[:min(len(row), maxColumns)]
	end := 0
	for i, cell := range row {
		row[i] = printable(strings.ToValidUTF8(cell, "\uFFFD"))
		if strings.TrimSpace(row[i]) != "" {
			end = i + 1
			filled++
		}
		w.bytes += int64(len(cell))
	}
	return row[:end], filled
}
