package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// dropsFiles drops files of four bytes on the page.
func (b *browser) dropsFiles(names ...string) {
	b.Helper()
	b.transfers("drop", "window", names...)
}

// transfers has the page hear that files came by a pointer or the clipboard.
func (b *browser) transfers(event, target string, names ...string) {
	b.Helper()
	list, err := json.Marshal(names)
	if err != nil {
		b.Fatal(err)
	}
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		for (const name of %s) data.items.add(new File(["text"], name, { type: "text/plain" }));
		const init = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
		%s.dispatchEvent(%q === "paste" ? new ClipboardEvent("paste", init) : new DragEvent(%q, init));
		return true;
	})()`, list, target, event, event))
}

// shownFiles are the names of the files that a list of the page shows.
func (b *browser) shownFiles(list string) []string {
	b.Helper()
	return evaluate[[]string](b, `[...document.querySelectorAll("`+list+` li bdi")].map((e) => e.textContent)`)
}

func TestBrowserAttachesFiles(t *testing.T) {
	bot := sampleBot()
	w, _ := serveWithFiles(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	path := filepath.Join(t.TempDir(), "chosen.txt")
	if err := os.WriteFile(path, []byte("chosen text"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.sees("#attach")
	b.do(chromedp.SetUploadFiles("#file", []string{path}))
	b.sees(`//ul[@id="attached"]/li[contains(., "chosen.txt") and contains(., "11 bytes")]`)
	b.dropsFiles("dropped.txt", "dropped too.txt")
	b.transfers("paste", "text", "pasted.png")
	want := []string{"chosen.txt", "dropped.txt", "dropped too.txt", "pasted.png"}
	if got := b.shownFiles("#attached"); !slices.Equal(got, want) {
		t.Fatalf("attached are %q, want %q", got, want)
	}
	b.holds(`document.getElementById("status").textContent === "pasted.png attached. 4 files to send."`)
	b.do(chromedp.Focus(`[aria-label="Remove dropped.txt"]`))
	b.types("Enter", "Enter")
	b.holds(`document.activeElement.getAttribute("aria-label") === "Remove dropped too.txt"`)
	b.holds(`document.getElementById("status").textContent === "dropped.txt is removed. 3 files left."`)
	b.says("What is in these files?")
	want = slices.Delete(want, 1, 2)
	if got := b.shownFiles(".asked"); !slices.Equal(got, want) {
		t.Errorf("sent are %q, want %q", got, want)
	}
	b.holds(`document.getElementById("attached").hidden && document.getElementById("sending").hidden`)
	b.says("And now?")
	messages := bot.Messages()
	if len(messages) != 2 || len(messages[0].Files) != 3 || messages[0].Files[0].Size != 11 || len(messages[1].Files) != 0 {
		t.Errorf("arrived: %+v", messages)
	}
	b.dropsFiles("alone.txt")
	b.clicks(".send")
	b.sees(answerTo("alone.txt"))
	b.do(chromedp.Reload())
	b.sees(`//article[h2="alone.txt"]//li/bdi[.="alone.txt"]`)
	b.clean(w)
}

func TestBrowserRefusesFilesInPlainWords(t *testing.T) {
	w, _ := serveWithFiles(t, sampleBot())
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.sees("#attach")
	complains := func(with string) {
		t.Helper()
		b.holds(`!notice.hidden && document.getElementById("notice").textContent.includes(` + fmt.Sprintf("%q", with) + `)`)
	}
	b.dropsFiles("kept.txt")
	var many []string
	for i := range 10 {
		many = append(many, fmt.Sprintf("%d.txt", i))
	}
	b.dropsFiles(many...)
	complains("A message can have 10 files.")
	evaluate[bool](b, `(file.dataset.file = 3, true)`)
	b.dropsFiles("large.txt")
	complains("large.txt is larger than 3 bytes.")
	evaluate[bool](b, `(file.dataset.file = 100, file.dataset.size = 7, true)`)
	b.dropsFiles("second.txt")
	complains("The files are larger than 7 bytes together.")
	if got := b.shownFiles("#attached"); !slices.Equal(got, []string{"kept.txt"}) {
		t.Errorf("attached are %q", got)
	}
	evaluate[bool](b, `(file.dataset.size = 100, true)`)
	b.dropsFiles("second.txt")
	b.holds(`notice.hidden`)
	if got := b.shownFiles("#attached"); !slices.Equal(got, []string{"kept.txt", "second.txt"}) {
		t.Errorf("attached are %q", got)
	}
	b.clean(w)
}

// slowUploads has the browser send so many bytes in a second, or with -1 as many as it can.
func slowUploads(bytes float64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := network.EmulateNetworkConditionsByRule(false, []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: bytes}}).Do(ctx)
		return err
	})
}

// TestBrowserShowsHowFarFilesAre sends a file over a slow line, gives it up, and sends it after all.
func TestBrowserShowsHowFarFilesAre(t *testing.T) {
	bot := sampleBot()
	w, _ := serveWithFiles(t, bot)
	b := openBrowser(t)
	b.do(chromedp.Navigate(w.URL()))
	b.sees("#attach")
	path := filepath.Join(t.TempDir(), "large.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("text ", 1_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.SetUploadFiles("#file", []string{path}), slowUploads(100_000))
	b.writes("How long is it?")
	b.clicks(".send")
	b.sees("#sending progress")
	b.holds(`document.querySelector("#sending progress").value > 0`)
	b.clicks(`//div[@id="sending"]/button[.="Cancel"]`)
	b.holds(`document.getElementById("sending").hidden && text.value === "How long is it?" && document.querySelectorAll("#attached li").length === 1`)
	b.do(slowUploads(-1))
	b.clicks(".send")
	b.sees(answerTo("How long is it?"))
	if got := bot.Messages(); len(got) != 1 || len(got[0].Files) != 1 || got[0].Files[0].Size != 5_000_000 {
		t.Errorf("arrived: %+v", got)
	}
	b.clean(w)
}
