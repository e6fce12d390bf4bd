package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// thisMachine is the person at the terminal: who can read the data directory can read all
// that is in it.
func thisMachine() *chat.Identity { return &chat.Identity{Local: true} }

// asOperator gives a context whose work is shown to who runs Cairn alone.
func asOperator(ctx context.Context) context.Context {
	return knowledge.WithViewers(ctx, knowledge.Unrestricted())
}

// askAs is the person that a question is asked as: the one at this terminal, or somebody
// known by an e-mail address or by principals.
func askAs(user string) (*chat.Identity, error) {
	if user == "" {
		return thisMachine(), nil
	}
	identity := &chat.Identity{}
	for text := range strings.SplitSeq(user, ",") {
		text = strings.TrimSpace(text)
		if strings.Contains(text, "@") && !strings.Contains(text, ":") {
			text = string(knowledge.UserPrincipal) + ":" + text
		}
		principal, err := knowledge.ParsePrincipal(text)
		if err != nil {
			return nil, fmt.Errorf("--as %s: want an e-mail address or principals: %w", user, err)
		}
		identity.Holds = append(identity.Holds, string(principal))
	}
	return identity, nil
}
