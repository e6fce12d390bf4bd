package slack

import (
	_ "github.com/bwmarrin/discordgo"     // want "discordgo is imported by adapters/discord alone"
	_ "github.com/coreos/go-oidc/v3/oidc" // want "go-oidc is imported by adapters/web alone"
	_ "github.com/slack-go/slack"
	_ "github.com/slack-go/slack/socketmode"
)
