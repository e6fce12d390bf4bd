package slack

import (
	"errors"
	"fmt"
	"slices"
)

// checkDoors tells who can install the app, and whom it answers.
func (d Diagnosis) checkDoors() []Finding {
	return []Finding{
		d.checkTeams(),
		doorFinding("guests", d.Guests, "guests of the workspace are answered as members are", "slack.guests"),
		doorFinding("external people", d.External, "people of other companies are answered in shared channels", "slack.external"),
	}
}

func (d Diagnosis) checkTeams() Finding {
	switch {
	case !d.Many:
		return Finding{What: "workspaces", Told: "the one that the bot token is of"}
	case slices.Contains(d.Teams, AnyTeam):
		return Finding{
			What: "workspaces", Problem: errors.New("everybody can install Cairn, and read the documents that all workspaces share"),
			Remedy: "list the workspaces in slack.teams, in the place of *",
		}
	case len(d.Teams) == 0:
		return Finding{
			What: "workspaces", Problem: errors.New("slack.teams lists none, so no workspace can install Cairn, and none is answered"),
			Remedy: "set CAIRN_SLACK_TEAMS to the ids of the workspaces, T…: they stand in the address of Slack in a browser",
		}
	}
	return Finding{What: "workspaces", Told: fmt.Sprintf("%d are listed", len(d.Teams))}
}

// doorFinding tells whether a setting lets people in beside the members.
func doorFinding(what string, open bool, problem, setting string) Finding {
	if !open {
		return Finding{What: what, Told: "refused"}
	}
	return Finding{What: what, Problem: errors.New(problem), Remedy: "set " + setting + " to false, unless that is meant", Minor: true}
}
