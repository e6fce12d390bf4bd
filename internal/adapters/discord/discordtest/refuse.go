package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code is a number by which Discord names an error.
type Code int

// Errors that this server answers with.
const (
	codeGeneral             Code = 0
	codeUnknownChannel      Code = 10003
	codeUnknownGuild        Code = 10004
	codeUnknownMember       Code = 10007
	codeUnknownMessage      Code = 10008
	codeUnknownUser         Code = 10013
	codeUnknownWebhook      Code = 10015
	codeUnknownInteraction  Code = 10062
	codeDailyCommands       Code = 30034
	codeTooLarge            Code = 40005
	codeAcknowledged        Code = 40060
	codeMissingAccess       Code = 50001
	codeNotInDM             Code = 50003
	codeOthersMessage       Code = 50005
	codeEmptyMessage        Code = 50006
	codeNotToThisUser       Code = 50007
	codeNotAText            Code = 50008
	codeMissingPermissions  Code = 50013
	codeWrongChannelType    Code = 50024
	codeWebhookToken        Code = 50027
	codeInvalidForm         Code = 50035
	codeArchived            Code = 50083
	codeInvalidJSON         Code = 50109
	codeReplyWithoutHistory Code = 160002
	codeThreadExists        Code = 160004
	codeThreadLocked        Code = 160005
)

var messagesOf = map[Code]string{
	codeUnknownChannel: "Unknown Channel", codeUnknownGuild: "Unknown Guild", codeUnknownMember: "Unknown Member",
	codeUnknownMessage: "Unknown Message", codeUnknownUser: "Unknown User", codeUnknownWebhook: "Unknown Webhook",
	codeUnknownInteraction: "Unknown interaction", codeTooLarge: "Request entity too large",
	codeDailyCommands:       "Max number of daily application command creates has been reached (200)",
	codeAcknowledged:        "Interaction has already been acknowledged.",
	codeMissingAccess:       "Missing Access",
	codeNotInDM:             "Cannot execute action on a DM channel",
	codeOthersMessage:       "Cannot edit a message authored by another user",
	codeEmptyMessage:        "Cannot send an empty message",
	codeNotToThisUser:       "Cannot send messages to this user",
	codeNotAText:            "Cannot send messages in a non-text channel",
	codeWebhookToken:        "Invalid Webhook Token",
	codeInvalidForm:         "Invalid Form Body",
	codeInvalidJSON:         "The request body contains invalid JSON.",
	codeThreadLocked:        "Thread is locked",
	codeArchived:            "Thread is archived",
	codeThreadExists:        "A thread has already been created for this message",
	codeMissingPermissions:  "Missing Permissions",
	codeWrongChannelType:    "Cannot execute action on this channel type",
	codeReplyWithoutHistory: "Cannot reply without permission to read message history",
}

const (
	badRequest = http.StatusBadRequest
	forbidden  = http.StatusForbidden
	notFound   = http.StatusNotFound
)

// refusal is an error as Discord answers it.
type refusal struct {
	Status  int        `json:"-"`
	Message string     `json:"message"`
	Code    Code       `json:"code"`
	Errors  *errorNode `json:"errors,omitempty"`

	RetryAfter float64 `json:"retry_after,omitempty"` // seconds
	Global     *bool   `json:"global,omitempty"`
	scope      string
	wait       time.Duration
	banned     bool
}

func newRefusal(status int, code Code) *refusal {
	text, ok := messagesOf[code]
	if !ok {
		text = fmt.Sprintf("%d: %s", status, http.StatusText(status))
	}
	return &refusal{Status: status, Code: code, Message: text}
}

// FieldError is what is wrong with one field of a request.
type FieldError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// errorNode is the tree of errors by field, as Discord nests them.
type errorNode struct {
	errors []FieldError
	fields map[string]*errorNode
}

// MarshalJSON puts the errors of a node beside its fields, as "_errors".
func (n *errorNode) MarshalJSON() ([]byte, error) {
	object := map[string]json.RawMessage{}
	if len(n.errors) > 0 {
		object["_errors"] = mustJSON(n.errors)
	}
	for name, field := range n.fields {
		object[name] = mustJSON(field)
	}
	return json.Marshal(object)
}

// formErrors gathers what is wrong with a body.
type formErrors struct{ root *errorNode }

func (f *formErrors) addError(path []string, code, text string) {
	if f.root == nil {
		f.root = &errorNode{}
	}
	node := f.root
	for _, name := range path {
		if node.fields == nil {
			node.fields = map[string]*errorNode{}
		}
		if node.fields[name] == nil {
			node.fields[name] = &errorNode{}
		}
		node = node.fields[name]
	}
	node.errors = append(node.errors, FieldError{code, text})
}

// checkMax adds an error where a length is over its limit.
func (f *formErrors) checkMax(length, limit int, path ...string) {
	if length > limit {
		f.addError(path, "BASE_TYPE_MAX_LENGTH", "Must be "+strconv.Itoa(limit)+" or fewer in length.")
	}
}

// checkPresent adds an error where a text is empty.
func (f *formErrors) checkPresent(text string, path []string) {
	if strings.TrimSpace(text) == "" {
		f.addError(path, requiredField, "This field is required")
	}
}

// toRefusal is nil where nothing was added.
func (f *formErrors) toRefusal() *refusal {
	if f.root == nil {
		return nil
	}
	refused := newRefusal(badRequest, codeInvalidForm)
	refused.Errors = f.root
	return refused
}

// newFieldError refuses one field of a body.
func newFieldError(field, code, text string) *refusal {
	var form formErrors
	form.addError([]string{field}, code, text)
	return form.toRefusal()
}
