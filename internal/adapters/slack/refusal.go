package slack

import (
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Slack's names of errors after which nothing was posted and never will be.
var (
	goneNames = nameSet("channel_not_found", "not_in_channel", "is_archived", "thread_not_found", "message_not_found",
		"user_not_in_channel", "user_not_found", "cant_update_message", "cant_delete_message", "account_inactive", "token_revoked",
		"restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_locked", "messages_tab_disabled",
		"access_denied", "team_access_not_granted", "no_permission")
	refusedNames = nameSet("invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "no_text",
		"invalid_arguments", "invalid_arg_name", "invalid_array_arg", "invalid_attachments", "too_many_attachments",
		"metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema", "markdown_text_conflict",
		"edit_window_closed", "invalid_thread_ts", "invalid_chunks")
	// tableRefusals are those that a table block may be the cause of.
	tableRefusals = nameSet("invalid_blocks", "invalid_attachments", "msg_blocks_too_long")
)

func nameSet(list ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range list {
		set[name] = true
	}
	return set
}

// refusalName is Slack's name of an error, "" where Slack did not answer with one.
func refusalName(err error) string {
	var refused slack.SlackErrorResponse
	if errors.As(err, &refused) {
		return refused.Err
	}
	return ""
}

// classifyError makes the error of a call one of chat's where Slack's answer says so.
func classifyError(operation string, err error) error {
	if err == nil {
		return nil
	}
	name := refusalName(err)
	switch {
	case goneNames[name]:
		return fmt.Errorf("%s in Slack: %w: %w", operation, chat.ErrGone, err)
	case refusedNames[name]:
		var refused slack.SlackErrorResponse
		errors.As(err, &refused)
		return fmt.Errorf("%s in Slack: %w: %w %v", operation, chat.ErrRefused, err, refused.ResponseMetadata.Messages)
	}
	return fmt.Errorf("%s in Slack: %w", operation, err)
}
