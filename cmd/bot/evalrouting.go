package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
)

// routingSet is the name of the set that is part of the program.
const routingSet = "routing"

// routingReport is how well the rules alone find the flow that a message is for.
type routingReport struct {
	Set      string                `json:"set"`
	Messages int                   `json:"messages"`
	Right    int                   `json:"right"`
	Accuracy float64               `json:"accuracy"`
	Flows    map[string]flowReport `json:"flows"`
	Wrong    []wrongRoute          `json:"wrong"`
}

// flowReport is about the messages that are meant for one flow.
type flowReport struct {
	Messages  int     `json:"messages"`
	Recall    float64 `json:"recall"`    // of those, the part that goes there
	Precision float64 `json:"precision"` // of those that go there, the part that is meant for it
}

type wrongRoute struct {
	Text   string `json:"text"`
	Want   string `json:"want"`
	Got    string `json:"got"`
	Reason string `json:"reason"`
}

// measureRouting sends the examples through the rules.
func measureRouting(ctx context.Context) (routingReport, error) {
	all := []string{routing.Answer, routing.Analyze, routing.Context, routing.Repo, routing.Inspect, routing.Page, routing.Echo}
	router, err := routing.New(routing.Options{Flows: all, First: routing.Answer})
	if err != nil {
		return routingReport{}, err
	}
	messages, err := routing.LoadExamples()
	if err != nil {
		return routingReport{}, err
	}
	report := routingReport{Set: routingSet, Messages: len(messages), Flows: make(map[string]flowReport)}
	meant, went, right := make(map[string]int), make(map[string]int), make(map[string]int)
	for _, message := range messages {
		got, err := router.Route(ctx, flows.Message{Text: message.Text, Attached: message.Attached, Running: message.Running})
		if err != nil {
			return routingReport{}, err
		}
		meant[message.Want]++
		went[got.Flow]++
		if got.Flow == message.Want {
			right[got.Flow]++
			report.Right++
			continue
		}
		report.Wrong = append(report.Wrong, wrongRoute{message.Text, message.Want, got.Flow, got.Reason})
	}
	report.Accuracy = float64(report.Right) / float64(report.Messages)
	for _, flow := range all {
		report.Flows[flow] = flowReport{
			Messages: meant[flow], Recall: float64(right[flow]) / float64(max(1, meant[flow])),
			Precision: float64(right[flow]) / float64(max(1, went[flow])),
		}
	}
	return report, nil
}

// evalRouting prints how well the rules do.
func (c *evalCommand) evalRouting(ctx context.Context, out io.Writer) error {
	report, err := measureRouting(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode([]routingReport{report})
	}
	fmt.Fprintf(out, "routing, by rules alone\n%d of %d messages go where they are meant to go: accuracy %.3f\n\n", report.Right, report.Messages, report.Accuracy)
	fmt.Fprintf(out, "%-8s  %8s  %6s  %9s\n", "flow", "messages", "recall", "precision")
	for _, flow := range []string{routing.Answer, routing.Analyze, routing.Context, routing.Repo, routing.Inspect, routing.Page, routing.Echo} {
		of := report.Flows[flow]
		fmt.Fprintf(out, "%-8s  %8d  %6.3f  %9.3f\n", flow, of.Messages, of.Recall, of.Precision)
	}
	fmt.Fprintln(out)
	for _, wrong := range report.Wrong {
		fmt.Fprintf(out, "%q goes to %s (%s), is meant for %s\n", wrong.Text, wrong.Got, wrong.Reason, wrong.Want)
	}
	return nil
}
