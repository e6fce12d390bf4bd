package discordtest_test

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/discordtest"
)

func TestEverythingThatCanBeSaidIsShown(t *testing.T) {
	p := newPlace(t, discordtest.Options{})
	team := p.team.Role("ops", 0)
	p.Overwrite(p.general, discordtest.Bot, discordtest.MentionEveryone, 0)
	p.team.Nickname(p.ben, "Benny")
	p.want("roles", p.post(p.general, `{"content":"<@&`+team+`> and <@`+p.ben+`>, @here","allowed_mentions":{"roles":["`+team+`"]}}`), 200, 0)
	p.want("everything", p.post(p.general, body(true, `{"type":17,"components":[`+display(`# Title\nText`)+`,{"type":14},
		{"type":9,"components":[`+display("A page")+`],"accessory":{"type":2,"style":5,"label":"Open","url":"https://a.example"}},
		{"type":12,"items":[{"media":{"url":"https://a.example/a.png"}}]}]},
		{"type":9,"components":[`+display("B")+`],"accessory":{"type":11,"media":{"url":"https://a.example/b.png"}}},`+
		row(`{"type":2,"style":1,"label":"Off","custom_id":"o","disabled":true}`, `{"type":2,"style":1,"emoji":{"name":"👍"},"custom_id":"e"}`)+`,`+
		row(`{"type":3,"custom_id":"s","placeholder":"Pick","options":[{"label":"A","value":"a","description":"first","default":true},{"label":"B","value":"b"}]}`))), 200, 0)
	said := p.Say(p.ann, p.general, "a thread of its own")
	thread := p.StartThread(p.ann, said.ID, "Alone")
	p.clock.Advance(time.Minute)
	p.Say(p.ben, thread, "in it")
	p.Archive(thread, true, true)
	want := `== #general ==
09:00:00 Cairn:
  @ops! and @Benny, @here
09:00:00 Cairn:
  │ # Title
  │ Text
  │ ———
  │ A page [Open ⟨https://a.example⟩]
  │ 🖼 ⟨https://a.example/a.png⟩
  B ⟨https://a.example/b.png⟩
  (Off) [👍]
  [Pick ▾ ✓ A – first | B]
09:00:00 Ann:
  a thread of its own
    -- thread: Alone (archived) (locked) --
    09:01:00 Benny:
      in it
`
	if got := p.Show(p.general); got != want {
		t.Errorf("the channel reads\n%s\nwant\n%s", got, want)
	}
	if got, want := p.Show(thread), "-- thread: Alone (archived) (locked) --\n09:01:00 Benny:\n  in it\n"; got != want {
		t.Errorf("the thread reads\n%s\nwant\n%s", got, want)
	}
	if got, want := p.Show(p.DM(p.ann)), "== direct messages of Ann ==\n"; got != want {
		t.Errorf("the direct messages read %q, want %q", got, want)
	}
}
