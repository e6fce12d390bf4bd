package slacktest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// View is a modal that is open.
type View struct {
	ID       string
	Hash     string
	Root     string // the lowest of its stack
	Previous string
	Callback string
	Private  string // private_metadata
	JSON     json.RawMessage
	Owner    string
	Depth    int
}

// trigger is what a view is opened with: once, within 3 s.
type trigger struct {
	at    time.Time
	used  bool
	owner string
	view  string // of the modal in which it was made
}

type wireView struct {
	Type            string          `json:"type"`
	Title           *text           `json:"title"`
	Blocks          json.RawMessage `json:"blocks"`
	Close           *text           `json:"close"`
	Submit          *text           `json:"submit"`
	PrivateMetadata string          `json:"private_metadata"`
	CallbackID      string          `json:"callback_id"`
	ClearOnClose    bool            `json:"clear_on_close"`
	NotifyOnClose   bool            `json:"notify_on_close"`
	ExternalID      string          `json:"external_id"`
	SubmitDisabled  bool            `json:"submit_disabled"`
}

// checkView returns what Slack would refuse about a view, and the files that it shows.
func checkView(raw json.RawMessage) (view wireView, files []string, problems []Problem) {
	c := &checker{surface: inModal, blockIDs: map[string]bool{}}
	view, ok := decodeField[wireView](c, "/view", raw)
	if !ok {
		return view, nil, c.problems
	}
	switch view.Type {
	case "modal":
		c.textObject("/view/title", view.Title, 24, true)
		for at, button := range map[string]*text{"/view/submit": view.Submit, "/view/close": view.Close} {
			if button != nil {
				c.textObject(at, button, 24, true)
			}
		}
	case "home":
		c.surface = inHome
	default:
		c.addProblem("/view/type", "unsupported type: %s", view.Type)
	}
	c.checkLength("/view/private_metadata", view.PrivateMetadata, 0, 3000)
	c.checkLength("/view/callback_id", view.CallbackID, 0, maxID)
	c.checkBlocks("/view/blocks", view.Blocks, maxViewBlocks)
	return view, c.files, c.problems
}

// NewTrigger gives what the app may open a view for the person with, as each press brings it.
func (p *Person) NewTrigger() string {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	return p.server.newTrigger(p.ID, "")
}

// newTrigger makes a trigger id for something that a person did.
func (s *Server) newTrigger(owner, view string) string {
	id := s.nextID("trigger.")
	s.triggers[id] = &trigger{at: s.clock.Now(), owner: owner, view: view}
	return id
}

func (s *Server) useTrigger(id string) (*trigger, *apiError) {
	made := s.triggers[id]
	switch {
	case made == nil:
		return nil, newAPIError("invalid_trigger_id")
	case made.used:
		return nil, newAPIError("exchanged_trigger_id")
	case s.clock.Now().Sub(made.at) > 3*time.Second:
		return nil, newAPIError("expired_trigger_id")
	}
	made.used = true
	return made, nil
}

type shownView struct {
	View struct {
		ID              string `json:"id"`
		Hash            string `json:"hash"`
		RootViewID      string `json:"root_view_id"`
		PrivateMetadata string `json:"private_metadata"`
		CallbackID      string `json:"callback_id"`
		Type            string `json:"type"`
	} `json:"view"`
}

func newShownView(view *View, kind string) shownView {
	var told shownView
	told.View.ID, told.View.Hash, told.View.RootViewID = view.ID, view.Hash, view.Root
	told.View.PrivateMetadata, told.View.CallbackID, told.View.Type = view.Private, view.Callback, kind
	return told
}

// checkModal checks the view of a call.
func (s *Server) checkModal(work *request) (wireView, *apiError) {
	view, files, problems := checkView(json.RawMessage(work.args["view"]))
	for _, id := range files {
		if file := s.files[id]; file == nil || !file.shared {
			problems = append(problems, Problem{"invalid slack file", "/view/blocks"})
		}
	}
	if len(problems) > 0 {
		return view, newAPIError("invalid_arguments", asMessages(problems)...)
	}
	if view.Type != "modal" {
		return view, newAPIError("invalid_arguments", "[ERROR] unsupported type: "+view.Type)
	}
	return view, nil
}

func (s *Server) keepView(view *View, checked wireView, raw string) {
	view.Callback, view.Private, view.JSON = checked.CallbackID, checked.PrivateMetadata, json.RawMessage(raw)
	s.serial++
	view.Hash = fmt.Sprintf("hash.%d", s.serial)
	s.views[view.ID] = view
}

func (s *Server) openView(work *request) (any, *apiError) {
	checked, refused := s.checkModal(work)
	if refused != nil {
		return nil, refused
	}
	made, refused := s.useTrigger(work.args["trigger_id"])
	if refused != nil {
		return nil, refused
	}
	view := &View{ID: s.nextID("V"), Owner: made.owner, Depth: 1}
	view.Root = view.ID
	s.keepView(view, checked, work.args["view"])
	return newShownView(view, "modal"), nil
}

func (s *Server) pushView(work *request) (any, *apiError) {
	checked, refused := s.checkModal(work)
	if refused != nil {
		return nil, refused
	}
	made, refused := s.useTrigger(work.args["trigger_id"])
	if refused != nil {
		return nil, refused
	}
	below := s.views[made.view]
	switch {
	case below == nil:
		return nil, newAPIError("invalid_trigger_id")
	case below.Depth >= 3:
		return nil, newAPIError("push_limit_reached")
	}
	view := &View{ID: s.nextID("V"), Owner: made.owner, Root: below.Root, Previous: below.ID, Depth: below.Depth + 1}
	s.keepView(view, checked, work.args["view"])
	return newShownView(view, "modal"), nil
}

func (s *Server) updateView(work *request) (any, *apiError) {
	checked, refused := s.checkModal(work)
	if refused != nil {
		return nil, refused
	}
	view := s.views[work.args["view_id"]]
	switch {
	case view == nil:
		return nil, newAPIError("not_found")
	case work.args["hash"] != "" && work.args["hash"] != view.Hash:
		return nil, newAPIError("hash_conflict")
	}
	s.keepView(view, checked, work.args["view"])
	return newShownView(view, "modal"), nil
}

func (s *Server) publishView(work *request) (any, *apiError) {
	checked, _, problems := checkView(json.RawMessage(work.args["view"]))
	switch {
	case len(problems) > 0:
		return nil, newAPIError("invalid_arguments", asMessages(problems)...)
	case checked.Type != "home":
		return nil, newAPIError("invalid_arguments", "[ERROR] unsupported type: "+checked.Type)
	case s.people[work.args["user_id"]] == nil:
		return nil, newAPIError("user_not_found")
	}
	s.homes[work.args["user_id"]] = json.RawMessage(work.args["view"])
	return newShownView(&View{ID: "V" + work.args["user_id"]}, "home"), nil
}

// Home returns what the app shows a person on its home tab; nil before it did.
func (s *Server) Home(user string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.homes[user]
}

// Open returns the modal that a person has in front of them; nil for none.
func (p *Person) Open() *View {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	var top *View
	for _, view := range p.server.views {
		if view.Owner == p.ID && (top == nil || view.ID > top.ID) {
			top = view
		}
	}
	if top == nil {
		return nil
	}
	seen := *top
	return &seen
}

// ShowHome returns a person's home tab as text, "" before there is one.
func (s *Server) ShowHome(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := s.homes[user]
	if view == nil {
		return ""
	}
	var out strings.Builder
	for _, block := range viewBlocks(view) {
		out.WriteString(s.blockText(block) + "\n")
	}
	return out.String()
}
