package operations

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
)

// mostExported is how many runs a file has.
const mostExported = 2000

// serveExport serves the runs that a filter chooses as CSV, as the person may see them.
func (p *Page) serveExport(out http.ResponseWriter, request *http.Request) {
	filter, _, err := readFilter(request.URL.Query())
	if err != nil {
		p.responder.refuseRequest(out, request, err)
		return
	}
	ctx := request.Context()
	listed, err := p.options.Records.List(ctx, filter.ofRecords(ctx), mostExported)
	if err != nil {
		p.responder.refuseRequest(out, request, err)
		return
	}
	shown, err := p.viewer.showRecords(ctx, listed)
	if err != nil {
		p.responder.refuseRequest(out, request, err)
		return
	}
	out.Header().Set("Content-Type", "text/csv; charset=utf-8")
	out.Header().Set("Content-Disposition", `attachment; filename="runs.csv"`)
	rows := csv.NewWriter(out)
	write := func(cells ...string) {
		for i := range cells {
			cells[i] = plainCell(cells[i])
		}
		if err := rows.Write(cells); err != nil {
			p.options.Logger.Debug("send the export", "error", err)
		}
	}
	write("asked", "status", "outcome", "flow", "in", "person", "thread", "since", "took_ms", "sources", "tokens", "cost", "retries", "run")
	for _, record := range shown {
		v := p.run(ctx, record)
		asked := record.Request
		if record.hidden {
			asked = hiddenRequest
		}
		write(asked, v.Status, v.Outcome, v.Flow, v.Adapter, string(record.Author), v.Thread, v.Since.Exact,
			strconv.FormatInt(record.Trace.Took.Milliseconds(), 10), strconv.Itoa(v.Sources), v.Tokens, v.Cost, strconv.Itoa(v.Retries), v.ID)
	}
	rows.Flush()
}

// plainCell keeps a spreadsheet from taking what people wrote for a formula.
func plainCell(text string) string {
	if text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
		return "'" + text
	}
	return text
}
