package slack

import (
	_ "github.com/bwmarrin/discordgo" // want "discordgo is imported by adapters/discord alone"
	_ "github.com/slack-go/slack"
	_ "github.com/slack-go/slack/socketmode"
)
