package forge

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
)

// discussionsQuery asks for discussions, the newest change first.
//
//go:embed discussions.graphql
var discussionsQuery string

// graphPage is how many discussions are asked for at once; with their comments GitHub counts each as
// up to 1,000 things, of which one query may ask for 500,000.
const graphPage = 10

// graphListing lists the discussions of a repository of GitHub, which REST does not.
type graphListing struct {
	owner, name string
	total       int // as the last answer told
}

func newGraphListing(repository string) *graphListing {
	owner, name, _ := strings.Cut(repository, "/")
	return &graphListing{owner: owner, name: name}
}

type graphActor struct {
	Login string `json:"login"`
}

type graphComment struct {
	ID      int64      `json:"databaseId"`
	Body    string     `json:"body"`
	Created time.Time  `json:"createdAt"`
	Author  graphActor `json:"author"`
	Answer  bool       `json:"isAnswer"`
	Hidden  bool       `json:"isMinimized"`
	Replies struct {
		Nodes []graphComment `json:"nodes"`
	} `json:"replies"`
}

type graphDiscussion struct {
	Number   int64      `json:"number"`
	Title    string     `json:"title"`
	Body     string     `json:"body"`
	URL      string     `json:"url"`
	Closed   bool       `json:"closed"`
	ClosedAt *time.Time `json:"closedAt"`
	Created  time.Time  `json:"createdAt"`
	Updated  time.Time  `json:"updatedAt"`
	Author   graphActor `json:"author"`
	Category struct {
		Name string `json:"name"`
	} `json:"category"`
	Comments struct {
		Total int            `json:"totalCount"`
		Nodes []graphComment `json:"nodes"`
	} `json:"comments"`
}

type graphAnswer struct {
	Data struct {
		Repository *struct {
			Discussions struct {
				Total int `json:"totalCount"`
				Page  struct {
					More bool   `json:"hasNextPage"`
					End  string `json:"endCursor"`
				} `json:"pageInfo"`
				Nodes []*graphDiscussion `json:"nodes"`
			} `json:"discussions"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"errors"`
}

// items yields the discussions that changed after a time, the newest first.
func (g *graphListing) items(ctx context.Context, asker *asker, since time.Time) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		var cursor *string
		for range maxPages {
			answer, err := g.ask(ctx, asker, cursor)
			if err != nil {
				yield(item{}, err)
				return
			}
			found := answer.Data.Repository.Discussions
			g.total = found.Total
			for _, node := range found.Nodes {
				if node == nil || node.Number <= 0 {
					yield(item{}, errors.New("a discussion has no number"))
					return
				}
				if node.Updated.Before(since) {
					return
				}
				if !yield(node.item(), nil) {
					return
				}
			}
			if !found.Page.More {
				return
			}
			end := found.Page.End
			cursor = &end
		}
		yield(item{}, errors.New("the list of discussions has no end"))
	}
}

func (g *graphListing) ask(ctx context.Context, asker *asker, cursor *string) (graphAnswer, error) {
	var answer graphAnswer
	response, err := asker.post(ctx, asker.graphAddress(), map[string]any{
		"query": discussionsQuery, "variables": map[string]any{"owner": g.owner, "name": g.name, "first": graphPage, "after": cursor},
	})
	if err != nil {
		return answer, err
	}
	if err := decode(response.Body, &answer); err != nil {
		return answer, err
	}
	if len(answer.Errors) > 0 {
		return answer, fmt.Errorf("ask for discussions: %.200q", answer.Errors[0].Message)
	}
	if answer.Data.Repository == nil {
		return answer, errors.New("ask for discussions: the forge tells of no repository")
	}
	return answer, nil
}

// graphAddress is where GraphQL is asked: beside the API of REST.
func (a *asker) graphAddress() string {
	if base, ok := strings.CutSuffix(a.api, "/v3"); ok {
		return base + "/graphql"
	}
	return a.api + "/graphql"
}

func (d *graphDiscussion) item() item {
	made := item{
		Key: strconv.FormatInt(d.Number, 10), Title: d.Title, Body: d.Body, Author: d.Author.Login, State: "open", Created: d.Created, Updated: d.Updated,
		URL: d.URL, Count: d.Comments.Total,
	}
	if d.Closed {
		made.State = "closed"
	}
	if d.ClosedAt != nil {
		made.Closed = *d.ClosedAt
	}
	if d.Category.Name != "" {
		made.Labels = []string{d.Category.Name}
	}
	for _, c := range d.Comments.Nodes {
		made.Comments = appendComment(made.Comments, c, false)
		for _, reply := range c.Replies.Nodes {
			made.Comments = appendComment(made.Comments, reply, true)
		}
	}
	return made
}

// appendComment appends a comment, unless it was hidden or says nothing.
func appendComment(comments []comment, c graphComment, reply bool) []comment {
	if c.Hidden || strings.TrimSpace(c.Body) == "" || len(comments) == maxComments {
		return comments
	}
	return append(comments, comment{
		Anchor: "discussioncomment-" + strconv.FormatInt(c.ID, 10), Author: c.Author.Login, Body: c.Body, Created: c.Created, Answer: c.Answer, Reply: reply,
	})
}
