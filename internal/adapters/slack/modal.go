package slack

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/picture"
)

// modal shows blocks to who pressed.
func (a *Adapter) modal(ctx context.Context, of signal, title string, blocks []slack.Block) error {
	_, err := a.view(ctx, of, modalOf(title, blocks))
	return err
}

// modalOf is a modal that asks for nothing.
func modalOf(title string, blocks []slack.Block) slack.ModalViewRequest {
	return slack.ModalViewRequest{Title: plainText(title), Close: plainText("Close"), Blocks: slack.Blocks{BlockSet: blocks}}
}

// view opens a modal for who pressed, and gives its id.
func (a *Adapter) view(ctx context.Context, of signal, view slack.ModalViewRequest) (id string, err error) {
	api, err := a.api(ctx, of.place.team)
	if err != nil {
		return "", err
	}
	view.Type = slack.VTModal
	err = a.pace.call(ctx, lane{team: of.place.team, method: openView}, time.Second, func() error {
		shown, err := api.OpenViewContext(ctx, of.trigger, view)
		if err == nil {
			id = shown.ID
		}
		return err
	})
	return id, known(string(openView), err)
}

// why shows how a run came about: in words at once, and then with a picture.
func (a *Adapter) why(ctx context.Context, bot *heard, of signal) error {
	run := chat.RunID(of.about)
	trace, err := bot.Explain(ctx, run)
	if err != nil {
		return err
	}
	const title = "Why this answer"
	blocks := traceBlocks(run, trace)
	view, err := a.view(ctx, of, modalOf(title, blocks))
	if err != nil {
		return err
	}
	drawn, err := drawTrace(bot.graphs, trace)
	if err == nil && drawn != nil {
		err = a.illustrate(ctx, of, view, modalOf(title, blocks), drawn)
	}
	if err != nil { // the words are there
		a.options.Logger.WarnContext(ctx, "slack picture of a run was not shown", slog.Any("error", err))
	}
	return nil
}

// drawTrace draws the graph of a run with the way that it took; nil where there is no
// graph.
func drawTrace(graphs chat.Graphs, trace chat.Trace) ([]byte, error) {
	if graphs == nil {
		return nil, nil
	}
	svg, known := graphs.Graph(trace.Flow)
	if !known {
		return nil, nil
	}
	took := map[string]bool{}
	for _, step := range trace.Steps {
		took[step.Node] = true
	}
	return picture.PNG(svg, func(node string) bool { return took[node] })
}

// illustrate puts a picture above what a modal shows.
func (a *Adapter) illustrate(ctx context.Context, of signal, id string, view slack.ModalViewRequest, drawn []byte) error {
	api, err := a.api(ctx, of.place.team)
	if err != nil {
		return err
	}
	var file *slack.FileSummary
	err = a.pace.call(ctx, lane{team: of.place.team, method: uploadFile}, 0, func() error {
		file, err = api.UploadFileContext(ctx, slack.UploadFileParameters{
			Filename: "run.png", Title: "The way of the run", AltTxt: "The graph of the flow, with the way that the run took",
			Reader: bytes.NewReader(drawn), FileSize: len(drawn),
		})
		return err
	})
	if err != nil {
		return known(string(uploadFile), err)
	}
	image := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: file.ID}, "The graph of the flow, with the way that the run took", "", nil)
	view.Type = slack.VTModal
	view.Blocks.BlockSet = append([]slack.Block{image}, view.Blocks.BlockSet...)
	return known(string(updateView), a.pace.call(ctx, lane{team: of.place.team, method: updateView}, 0, func() error {
		_, err := api.UpdateViewContext(ctx, view, "", "", id)
		return err
	}))
}

// Bounds of what a modal shows of a trace.
const (
	maxTraceLines = 12
	maxTraceLine  = 200
)

// traceBlocks shows a trace as plain lines under headings.
func traceBlocks(id chat.RunID, trace chat.Trace) []slack.Block {
	var pieces []piece
	add := func(heading string, lines []string) {
		if len(lines) == 0 {
			return
		}
		pieces = append(pieces, piece{shape: paragraph, runs: []run{{text: heading, style: style{bold: true}}}})
		for i, line := range lines {
			if i == maxTraceLines {
				line = fmt.Sprintf("and %d more", len(lines)-i)
			}
			pieces = append(pieces, piece{shape: item, runs: []run{{text: cut(markup.CleanLine(line), maxTraceLine) + " "}}})
			if i == maxTraceLines {
				break
			}
		}
	}
	var steps, searches, passages, models, decisions []string
	for _, step := range trace.Steps {
		steps = append(steps, fmt.Sprintf("%s: %s, %s", strings.ReplaceAll(step.Node, "_", " "), step.Status, brief(step.Took)))
	}
	for _, query := range trace.Queries {
		searches = append(searches, fmt.Sprintf("“%s”: %d by words, %d by meaning, %s", query.Text, query.Lexical, query.Dense, brief(query.Took)))
	}
	for _, found := range trace.Evidence {
		kept := ""
		if found.Kept {
			kept = ", used"
		}
		passages = append(passages, fmt.Sprintf("%s: %s, %.2f%s", found.Title, found.Section, found.Score, kept))
	}
	for _, model := range trace.Models {
		line := fmt.Sprintf("%s: %s, %d + %d tokens, %s", model.Role, model.Model, model.Prompt, model.Completion, brief(model.Took))
		if model.Failure != "" {
			line = fmt.Sprintf("%s: %s failed: %s", model.Role, model.Model, model.Failure)
		}
		models = append(models, line)
	}
	decisions = append(decisions, trace.Notes...)
	add("Steps", steps)
	add("Searches", searches)
	add("Passages, best first", passages)
	add("Models", models)
	add("Decisions", decisions)
	return append(richText(pieces), remark(fmt.Sprintf("Run %s, flow %s, worked %s", id, trace.Flow, brief(trace.Took))))
}

// brief rounds a time to what people read.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return "under 1 ms"
}

// replyOf finds the reply that a press is about, in its thread.
func replyOf(ctx context.Context, bot Bot, of signal) (chat.Reply, error) {
	turns, err := bot.Transcript(ctx, of.place.thread())
	if err != nil {
		return chat.Reply{}, fmt.Errorf("look into a thread of Slack's: %w", err)
	}
	for _, turn := range turns {
		if turn.Reply != nil && turn.Reply.Run == chat.RunID(of.about) {
			return *turn.Reply, nil
		}
	}
	return chat.Reply{}, chat.ErrUnknownRun
}

// maxModalRows is how many sources a modal shows.
const maxModalRows = 60

// sources shows all sources of an answer.
func (a *Adapter) sources(ctx context.Context, bot Bot, of signal) error {
	reply, err := replyOf(ctx, bot, of)
	if err != nil {
		return err
	}
	pieces, _ := sourcePieces(reply.Sources, a.clock.now(), maxModalRows, messageBudget)
	return a.modal(ctx, of, "All sources", richText(pieces))
}

// share posts the answer that one person saw for all in the channel. A repeated press
// shares it again: whoever pressed sees that it is there.
func (a *Adapter) share(ctx context.Context, bot Bot, of signal) error {
	reply, err := replyOf(ctx, bot, of)
	if err != nil {
		return err
	}
	s, err := a.sender(ctx, of.place.thread())
	if err != nil {
		return err
	}
	if len(reply.Documents) > 0 { // the bot keeps them no longer than until they are posted
		reply.Note = strings.TrimSpace(reply.Note + " Its documents are in the direct conversation of who asked.")
		reply.Documents = nil
	}
	shown, err := a.render(chat.Post{Reply: &reply}, place{})
	if err != nil {
		return err
	}
	s.at = place{team: s.at.team, channel: s.at.channel}
	_, err = s.complete(ctx, keyOf("share", of), shown, nil)
	return err
}
