package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkPublic tells whether everybody may add the app to a server.
func checkPublic(app application) Finding {
	if !app.Public {
		return Finding{What: "public bot", Told: "off: only its owner adds it to servers"}
	}
	return Finding{
		What: "public bot", Problem: errors.New("everybody can add Cairn to a server of theirs; it leaves those that are not listed"),
		Remedy: "discord.com/developers → your app → Installation: set Install Link to None; then Bot → Public Bot: turn it off", Minor: true,
	}
}

// checkCodeGrant tells whether the app can be added by its link.
func checkCodeGrant(app application) Finding {
	if !app.CodeGrant {
		return Finding{What: "code grant", Told: "off"}
	}
	return Finding{
		What: "code grant", Problem: errors.New("Discord asks for an OAuth2 code grant, so the link of `cairn discord invite` adds nothing"), //nolint:staticcheck // Discord is a name
		Remedy: "discord.com/developers → your app → Bot → Requires OAuth2 Code Grant: turn it off",
	}
}

// reviewFrom is the number of servers from which on Discord reviews privileged intents.
const reviewFrom = 100

// checkListed tells whether the servers that the app is in are listed.
func (d Diagnosis) checkListed(ctx context.Context, app application, joined []server) Finding {
	served := d.Servers
	if len(served) == 0 && d.Settings != nil {
		kept, err := d.Settings.RememberSpaces(ctx, Name+":"+app.ID, nil)
		if err != nil {
			return Finding{What: "servers", Problem: err, Remedy: "look whether the store of settings can be read"}
		}
		for _, space := range kept {
			served = append(served, strings.TrimPrefix(string(space), Name+":"))
		}
	}
	var ids, foreign []string
	for _, in := range joined {
		ids = append(ids, in.ID)
		if len(served) > 0 && !slices.Contains(served, in.ID) {
			foreign = append(foreign, in.Name+" ("+in.ID+")")
		}
	}
	switch {
	case len(foreign) > 0:
		return Finding{
			What: "servers", Problem: fmt.Errorf("Cairn is in servers that are not listed, and leaves them when `cairn serve` runs: %s", strings.Join(foreign[:min(len(foreign), maxServers)], ", ")), //nolint:staticcheck // Cairn is a name
			Remedy: "add those that are yours to discord.servers",
		}
	case len(d.Servers) == 0:
		told := "those of the set-up are served"
		if len(served) == 0 {
			told = "the ones that it is in when `cairn serve` starts for the first time will be served"
		}
		return Finding{
			What: "servers", Problem: errors.New("discord.servers lists none: " + told), Minor: true,
			Remedy: "set CAIRN_DISCORD_SERVERS=" + strings.Join(ids[:min(len(ids), maxServers)], ",") + ", without those that are not yours",
		}
	}
	return Finding{What: "servers", Told: fmt.Sprintf("all %d are listed", len(joined))}
}
