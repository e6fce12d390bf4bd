package forge

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Check asks the forge for one issue or release. Files, wikis and discussions it can't check.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	local, _ := strings.CutPrefix(string(document.ID), string(c.options.Source)+":")
	name, part, key, ok := parseLocalID(local)
	at, err := c.place()
	if !ok || err != nil || !isSafeName(name) {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, c.options.Source)
	}
	how, ok := c.speaks.listing(repository{Name: name}, part)
	if !ok || how.single == nil {
		return "", fmt.Errorf("check document %s: the forge has no quick answer for %s", document.ID, part)
	}
	asker := c.newAsker(at)
	defer asker.client.Close()
	answer, err := asker.get(ctx, how.single(key))
	if isGone(err) {
		return knowledge.StateGone, nil
	}
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	found, err := how.read(answer.Body)
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	switch {
	case found.Left:
		return knowledge.StateGone, nil
	case found.isSame(document.Hash, settingsHash(document.Audience.OrPublic(), c.options.Owner)):
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}
