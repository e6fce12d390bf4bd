package chattest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

// DocumentRoom is a thread to post documents in.
type DocumentRoom struct {
	PosterRoom
	// Documents gives the documents that people see in the thread, in order, by the names
	// that they see; of no other field than Content is anything expected.
	Documents func(t *testing.T, thread chat.ThreadID) []chat.Document
	// Break has the platform fail, once, at the document of the next post: it may have
	// taken what comes before, or all of it.
	Break func()
}

// TestDocuments checks a chat.Poster's way with the documents of replies. again gives
// another poster on the same platform, as another process has it.
func TestDocuments(t *testing.T, open func(t *testing.T) (room DocumentRoom, again chat.Poster)) {
	for name, test := range map[string]func(*testing.T, DocumentRoom, chat.Poster){
		"documents are posted with their reply":  testDocumentsPosted,
		"a post that was cut short is completed": testDocumentsCompleted,
		"documents go with a long answer":        testDocumentsOfLong,
		"an edit changes documents":              testDocumentsEdited,
		"documents without content stay":         testDocumentsStay,
		"documents go with what is retracted":    testDocumentsRetracted,
	} {
		t.Run(name, func(t *testing.T) {
			room, again := open(t)
			test(t, room, again)
		})
	}
}

// Documents returns documents of Markdown by their names and contents, in turn.
func Documents(said ...string) []chat.Document {
	var made []chat.Document
	for i := 0; i+1 < len(said); i += 2 {
		made = append(made, chat.Document{
			Name: said[i], MediaType: "text/markdown; charset=utf-8", Size: len(said[i+1]), Content: []byte(said[i+1]),
		})
	}
	return made
}

func (r DocumentRoom) newPost(text string, documents []chat.Document) chat.Post {
	post := r.newReply(text)
	post.Reply.Documents = documents
	return post
}

func (r DocumentRoom) expectDocuments(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, document := range r.Documents(t, r.Thread) {
		got = append(got, document.Name, string(document.Content))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("people see the documents %q, want %q", got, want)
	}
}

// postWith posts a reply with two documents.
func (r DocumentRoom) postWith(t *testing.T) chat.MessageID {
	t.Helper()
	id, err := r.Poster.Post(t.Context(), r.Thread, postKey(1), r.newPost("one", Documents("a.md", "# A", "b notes.md", "# B")))
	if err != nil || id == "" {
		t.Fatalf("Post = %q, %v", id, err)
	}
	return id
}

func (r DocumentRoom) expectFound(t *testing.T, by chat.Poster, want chat.MessageID) {
	t.Helper()
	if got, found, err := by.Find(t.Context(), r.Thread, postKey(1)); got != want || !found || err != nil {
		t.Errorf("Find = %q, %v, %v, want %q", got, found, err, want)
	}
}

func testDocumentsPosted(t *testing.T, room DocumentRoom, again chat.Poster) {
	id := room.postWith(t)
	room.mustPost(t, postKey(2), "two")
	room.expectFound(t, again, id)
	room.expectDocuments(t, "a.md", "# A", "b notes.md", "# B")
}

func testDocumentsCompleted(t *testing.T, room DocumentRoom, again chat.Poster) {
	post := room.newPost("one", Documents("a.md", "# A"))
	room.Break()
	if id, err := room.Poster.Post(t.Context(), room.Thread, postKey(1), post); err == nil {
		t.Fatalf("Post = %q where the platform broke", id)
	}
	id, found, err := again.Find(t.Context(), room.Thread, postKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		if id, err = again.Post(t.Context(), room.Thread, postKey(1), post); err != nil {
			t.Fatal(err)
		}
	}
	room.expectFound(t, room.Poster, id)
	room.expectDocuments(t, "a.md", "# A")
	if edit := room.newPost("uno", post.Reply.Documents); again.Edit(t.Context(), room.Thread, id, edit) != nil {
		t.Error("what was completed can't be edited")
	}
	room.expectDocuments(t, "a.md", "# A")
}

func testDocumentsOfLong(t *testing.T, room DocumentRoom, again chat.Poster) {
	post := room.newPost(strings.Repeat(Long(3000)+"\n\n", 3), Documents("a.md", "# A"))
	id, err := room.Poster.Post(t.Context(), room.Thread, postKey(1), post)
	if err != nil {
		t.Fatal(err)
	}
	room.expectFound(t, again, id)
	room.expectDocuments(t, "a.md", "# A")
}

func testDocumentsEdited(t *testing.T, room DocumentRoom, again chat.Poster) {
	id := room.postWith(t)
	for range 2 { // an edit can be repeated
		if err := again.Edit(t.Context(), room.Thread, id, room.newPost("uno", Documents("a.md", "# A, anew"))); err != nil {
			t.Fatal(err)
		}
		room.expectDocuments(t, "a.md", "# A, anew")
	}
	room.expectFound(t, again, id)
	if err := again.Edit(t.Context(), room.Thread, id, room.newReply("none")); err != nil {
		t.Fatal(err)
	}
	room.expectDocuments(t)
	room.expectShown(t, "none")
}

func testDocumentsStay(t *testing.T, room DocumentRoom, again chat.Poster) {
	id := room.postWith(t)
	without := room.newPost("uno", Documents("a.md", "# A", "b notes.md", "# B")).Reply.WithoutContent()
	if err := again.Edit(t.Context(), room.Thread, id, chat.Post{To: room.To, Reply: &without}); err != nil {
		t.Fatal(err)
	}
	room.expectFound(t, again, id)
	room.expectDocuments(t, "a.md", "# A", "b notes.md", "# B")
}

func testDocumentsRetracted(t *testing.T, room DocumentRoom, again chat.Poster) {
	id := room.postWith(t)
	if err := again.Retract(t.Context(), room.Thread, id); err != nil {
		t.Fatal(err)
	}
	room.expectDocuments(t)
	room.expectShown(t)
	if got, found, err := again.Find(t.Context(), room.Thread, postKey(1)); found || err != nil {
		t.Errorf("after it was retracted Find = %q, %v, %v", got, found, err)
	}
}
