package slack

import (
	"bytes"
	"context"
	"time"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// showModal shows blocks to who pressed.
func (a *Adapter) showModal(ctx context.Context, of signal, title string, blocks []slack.Block) error {
	_, err := a.openView(ctx, of, modalOf(title, blocks))
	return err
}

// modalOf is a modal that asks for nothing.
func modalOf(title string, blocks []slack.Block) slack.ModalViewRequest {
	return slack.ModalViewRequest{Title: plainText(title), Close: plainText("Close"), Blocks: slack.Blocks{BlockSet: blocks}}
}

// openView opens a modal for who pressed, and gives its id.
func (a *Adapter) openView(ctx context.Context, of signal, view slack.ModalViewRequest) (id string, err error) {
	api, err := a.teamClient(ctx, of.place.team)
	if err != nil {
		return "", err
	}
	view.Type = slack.VTModal
	err = a.pace.callPaced(ctx, turn{team: of.place.team, method: openView, patience: time.Second}, func() error {
		shown, err := api.OpenViewContext(ctx, of.trigger, view)
		if err == nil {
			id = shown.ID
		}
		return err
	})
	return id, classifyError(string(openView), err)
}

// addPicture puts a picture above what a modal shows.
func (a *Adapter) addPicture(ctx context.Context, of signal, id string, view slack.ModalViewRequest, drawn []byte) error {
	api, err := a.teamClient(ctx, of.place.team)
	if err != nil {
		return err
	}
	var file *slack.FileSummary
	err = a.pace.callPaced(ctx, turn{team: of.place.team, method: uploadFile}, func() error {
		file, err = api.UploadFileContext(ctx, slack.UploadFileParameters{
			Filename: "run.png", Title: "The way of the run", AltTxt: "The graph of the flow, with the way that the run took",
			Reader: bytes.NewReader(drawn), FileSize: len(drawn),
		})
		return err
	})
	if err != nil {
		return classifyError(string(uploadFile), err)
	}
	image := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: file.ID}, "The graph of the flow, with the way that the run took", "", nil)
	view.Type = slack.VTModal
	view.Blocks.BlockSet = append([]slack.Block{image}, view.Blocks.BlockSet...)
	return classifyError(string(updateView), a.pace.callPaced(ctx, turn{team: of.place.team, method: updateView}, func() error {
		_, err := api.UpdateViewContext(ctx, view, "", "", id)
		return err
	}))
}

// traceRoom is what a modal shows of each part of a trace.
var traceRoom = render.TraceRoom{Lines: 12, Length: 200}

// traceBlocks shows a trace as plain lines under headings.
func traceBlocks(run chat.RunID, trace chat.Trace) []slack.Block {
	var pieces []render.Piece
	for _, section := range render.TraceSections(trace, traceRoom) {
		pieces = append(pieces, render.Heading(section.Heading))
		for _, line := range section.Lines {
			pieces = append(pieces, render.Piece{Shape: render.Item, Runs: []render.Run{{Text: line + " "}}})
		}
	}
	return append(richText(pieces), remarkBlock(render.TraceFooter(run, trace)))
}

// maxModalRows is how many sources a modal shows.
const maxModalRows = 60
