package chattest_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// eyes see a platform's posts.
type eyes struct{ *chattest.Platform }

func (e eyes) Seen(_ *testing.T, thread chat.ThreadID) []string {
	var texts []string
	for _, posted := range e.Posted(thread) {
		if posted.Post.Question != nil {
			texts = append(texts, posted.Post.Question.Text)
		} else {
			texts = append(texts, posted.Post.Reply.Text)
		}
	}
	return texts
}

func room(platform *chattest.Platform, poster chat.Poster) chattest.PosterRoom {
	return chattest.PosterRoom{Poster: poster, Reader: eyes{platform}, Thread: "platform:1", To: "m"}
}

func remote(t *testing.T, platform *chattest.Platform) *chattest.Remote {
	server := httptest.NewServer(platform)
	t.Cleanup(server.Close)
	return &chattest.Remote{URL: server.URL, Client: server.Client()}
}

func TestThePlatformIsAPoster(t *testing.T) {
	chattest.TestPoster(t, func(*testing.T) (chattest.PosterRoom, chat.Poster) {
		platform := &chattest.Platform{}
		return room(platform, platform), platform
	})
}

func TestThePlatformIsADrafter(t *testing.T) {
	chattest.TestDrafter(t, func(*testing.T) (chattest.DrafterRoom, chat.Drafter) {
		platform := &chattest.Platform{}
		return chattest.DrafterRoom{
			PosterRoom: room(platform, platform), Drafter: platform,
			Left: func(_ *testing.T, thread chat.ThreadID) int { return len(platform.Drafts(thread)) },
		}, platform
	})
}

func TestThePlatformIsATidier(t *testing.T) {
	chattest.TestTidier(t, func(*testing.T) (chattest.DrafterRoom, chat.Poster) {
		platform := &chattest.Platform{}
		return chattest.DrafterRoom{
			PosterRoom: room(platform, platform), Drafter: platform,
			Left: func(_ *testing.T, thread chat.ThreadID) int { return len(platform.Drafts(thread)) },
		}, platform
	})
}

func TestThePlatformIsAFetcher(t *testing.T) {
	chattest.TestFetcher(t, func(_ *testing.T, content []byte) chattest.FetcherRoom {
		platform := &chattest.Platform{}
		return chattest.FetcherRoom{Fetcher: platform, Thread: "platform:1", File: platform.Upload("a.bin", "", content)}
	})
}

func TestARemoteIsAPoster(t *testing.T) {
	chattest.TestPoster(t, func(t *testing.T) (chattest.PosterRoom, chat.Poster) {
		platform := &chattest.Platform{}
		return room(platform, remote(t, platform)), remote(t, platform)
	})
}

// documentRoom is a room on a platform that breaks after it did what was asked for.
func documentRoom(platform *chattest.Platform, poster chat.Poster) chattest.DocumentRoom {
	broken := false
	platform.Faults = func(chattest.Call) chattest.Fault {
		if !broken {
			return chattest.NoFault
		}
		broken = false
		return chattest.BrokenAfter
	}
	return chattest.DocumentRoom{
		PosterRoom: room(platform, poster), Break: func() { broken = true },
		Documents: func(_ *testing.T, thread chat.ThreadID) []chat.Document { return platform.Documents(thread) },
	}
}

func TestThePlatformTakesDocuments(t *testing.T) {
	chattest.TestDocuments(t, func(*testing.T) (chattest.DocumentRoom, chat.Poster) {
		platform := &chattest.Platform{}
		return documentRoom(platform, platform), platform
	})
}

func TestARemoteTakesDocuments(t *testing.T) {
	chattest.TestDocuments(t, func(t *testing.T) (chattest.DocumentRoom, chat.Poster) {
		platform := &chattest.Platform{}
		return documentRoom(platform, remote(t, platform)), remote(t, platform)
	})
}

// TestFaultsTellWhatTheyAre has every fault happen to a post, near and far.
func TestFaultsTellWhatTheyAre(t *testing.T) {
	for _, test := range []struct {
		fault  chattest.Fault
		posted int
		is     func(error) bool
	}{
		{chattest.NoFault, 1, func(err error) bool { return err == nil }},
		{chattest.RateLimited, 0, func(err error) bool {
			limited, ok := errors.AsType[*chat.RetryAfterError](err)
			return ok && limited.After == chattest.RateLimit
		}},
		{chattest.Refused, 0, func(err error) bool { return errors.Is(err, chat.ErrRefused) }},
		{chattest.Broken, 0, open},
		{chattest.BrokenAfter, 1, open},
		{chattest.SilentAfter, 1, open},
	} {
		t.Run(string(test.fault), func(t *testing.T) {
			platform := &chattest.Platform{Faults: func(chattest.Call) chattest.Fault { return test.fault }}
			for i, poster := range []chat.Poster{platform, remote(t, platform)} {
				ctx := t.Context()
				if test.fault == chattest.SilentAfter {
					limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
					ctx = limited
				}
				_, err := poster.Post(ctx, "platform:1", "k", chat.Post{Reply: &chat.Reply{Text: "x"}})
				if !test.is(err) {
					t.Errorf("poster %d gives %v", i, err)
				}
				if got := len(platform.Posted("platform:1")); got != (i+1)*test.posted && test.fault != chattest.SilentAfter {
					t.Errorf("%d posted, want %d", got, (i+1)*test.posted)
				}
			}
		})
	}
}

// open tells an error that leaves it open whether anything was posted.
func open(err error) bool {
	_, ok := errors.AsType[*chat.RetryAfterError](err)
	return err != nil && !ok && !errors.Is(err, chat.ErrGone) && !errors.Is(err, chat.ErrRefused)
}

func TestAThreadThatIsGoneTakesNothing(t *testing.T) {
	platform := &chattest.Platform{}
	platform.Close("platform:1")
	for _, poster := range []chat.Poster{platform, remote(t, platform)} {
		if _, err := poster.Post(t.Context(), "platform:1", "k", chat.Post{}); !errors.Is(err, chat.ErrGone) {
			t.Errorf("Post gives %v", err)
		}
	}
}
