package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/servertest"
)

var (
	platformSeed     = flag.Uint64("platform.seed", 0, "what goes wrong in TestSlackChaos, and when; 0: another each time")
	platformMessages = flag.Int("platform.messages", 40, "how many messages people write in TestSlackChaos")
	platformRate     = flag.Float64("platform.rate", 4, "how many of them a second, about")
)

// chooseSlackSeed gives the seed of the run, which several tests at the same time share.
var chooseSlackSeed = sync.OnceValue(func() uint64 { return cmp.Or(*platformSeed, rand.Uint64()) })

// answeredWithin is how long after the end of all trouble the last answer may come.
const answeredWithin = 3 * time.Minute

// workplace is a team whose Slack has limits and goes wrong, on the machine's clock, with
// processes of the real program on it, all as it is by default.
type workplace struct {
	office
	front     *httptest.Server // what Slack reaches the processes by
	channels  []string
	processes []*process

	mu        sync.Mutex
	random    *rand.Rand
	addresses []string // of the processes that take deliveries
	struck    map[string]int
	asked     map[string][]string // by channel and thread: what was written, in order
	words     int
	model     bool // some questions are answered by a language model, which streams
}

// newWorkplace is a workplace with so many channels and no process.
func newWorkplace(t *testing.T, channels int, redis string) *workplace {
	t.Helper()
	w := &workplace{
		office: office{Server: slacktest.New(slacktest.Options{Quiet: []string{"message"}}), program: program{t: t, file: *underLoad}},
		random: rand.New(rand.NewPCG(chooseSlackSeed(), chooseSlackSeed())), struck: map[string]int{}, asked: map[string][]string{},
	}
	t.Cleanup(w.Close)
	w.ann = w.Person("U0ANN", "Ann")
	for i := range channels {
		w.channels = append(w.channels, w.Channel(fmt.Sprintf("C%07d", i), fmt.Sprintf("channel-%d", i)))
	}
	w.general = w.channels[0]
	w.env = append(os.Environ(), "HOME="+t.TempDir(), "CAIRN_DATA_DIR="+t.TempDir(), "CAIRN_LOG_LEVEL=warn", "CAIRN_REDIS_URL="+redis,
		"CAIRN_SLACK_MODE=http", "CAIRN_SLACK_LISTEN=127.0.0.1:0", "CAIRN_SLACK_API_URL="+w.APIURL(),
		"CAIRN_SLACK_BOT_TOKEN="+slacktest.BotToken, "CAIRN_SLACK_SIGNING_SECRET="+slacktest.SigningSecret)
	w.front = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(w.target()) },
		ErrorHandler: func(out http.ResponseWriter, _ *http.Request, _ error) { out.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(w.front.Close)
	w.Subscribe(w.front.URL+"/slack/events", w.front.URL+"/slack/interactive", w.front.URL+"/slack/commands")
	return w
}

// begin starts so many processes.
func (w *workplace) begin(processes int) {
	w.t.Helper()
	w.addresses, w.processes = make([]string, processes), make([]*process, processes)
	for i := range processes {
		w.restart(i)
	}
}

var wordTag = regexp.MustCompile(`word\d{6}`)

// employModel has a language model answer, which takes its time for each of its tokens.
func (w *workplace) employModel() {
	w.model = true
	model := llmtest.New(w.t)
	model.On(llmtest.Schema("understand"), llmtest.By(understood))
	model.On(llmtest.Schema("verify"), llmtest.By(judged))
	model.On(llmtest.Any, llmtest.By(func(r llmtest.Request) llmtest.Step {
		words := wordTag.FindAllString(r.User(), -1)
		if question := questionTag.FindStringSubmatch(r.User()); question != nil {
			words = wordTag.FindAllString(question[1], -1)
		}
		if len(words) == 0 {
			return llmtest.Fail(http.StatusInternalServerError, "", "script: there is no word in the question")
		}
		thinks := func(context.Context) { <-time.After(1200 * time.Millisecond) }
		return written(r, "For "+words[len(words)-1]+" you have ", "28 days ", "of leave%s.").Before(1, thinks).Before(2, thinks)
	}))
	w.env = append(w.env, "CAIRN_LLM_URL="+model.URL, "CAIRN_LLM_MODEL=gpt-test", "CAIRN_LLM_KEY="+llmtest.Key)
	w.readHandbook()
}

// restart puts a new process in a place.
func (w *workplace) restart(at int) {
	w.t.Helper()
	w.processes[at] = w.start(reached, "--role", "worker,slack")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addresses[at] = w.processes[at].address
}

// strike ends the process in a place, and starts another.
func (w *workplace) strike(at int, by syscall.Signal) {
	w.mu.Lock()
	w.addresses[at] = ""
	w.mu.Unlock()
	w.processes[at].end(by)
	w.restart(at)
}

// target is one of the processes that take deliveries.
func (w *workplace) target() *url.URL {
	w.mu.Lock()
	defer w.mu.Unlock()
	alive := slices.DeleteFunc(slices.Clone(w.addresses), func(address string) bool { return address == "" })
	if len(alive) == 0 {
		return &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	}
	address, err := url.Parse(alive[w.random.IntN(len(alive))])
	if err != nil {
		panic(err)
	}
	return address
}

func (w *workplace) roll(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

func (w *workplace) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.struck[what]++
}

// writes has somebody mention the bot in a thread, in a new one for "".
func (w *workplace) writes(channel, thread string) (root string) {
	w.mu.Lock()
	w.words++
	word := fmt.Sprintf("word%06d", w.words)
	w.mu.Unlock()
	text := "echo " + word
	if w.model && w.roll(4) == 0 {
		text = "how many days of leave do I have for " + word + "?"
	}
	ts := w.ann.Says(channel, thread, mention+text)
	if thread == "" {
		thread = ts
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[channel+" "+thread] = append(w.asked[channel+" "+thread], word)
	return thread
}

// refusedForPace counts the calls that Slack refused because there were too many.
func (w *workplace) refusedForPace() map[string]int {
	refused := map[string]int{}
	for _, call := range w.Calls("") {
		if call.Error == "ratelimited" {
			refused[call.Method]++
		}
	}
	return refused
}

// channelOrder counts the answers of a channel that come before one to an earlier message.
func (w *workplace) channelOrder(channel string) (overtaken int) {
	last := ""
	for _, message := range w.Messages(channel) {
		if message.User != slacktest.Bot || message.Deleted {
			continue
		}
		if message.ThreadTS < last {
			overtaken++
		}
		last = max(last, message.ThreadTS)
	}
	return overtaken
}

// longestSilence is the longest time in which a thread that waits for its answer showed
// nothing new.
func (w *workplace) longestSilence() (longest time.Duration) {
	seen := map[string][]time.Time{}
	for _, method := range []string{"chat.postMessage", "assistant.threads.setStatus"} {
		for _, call := range w.Calls(method) {
			if call.Error == "" {
				place := call.Args["channel"] + call.Args["channel_id"] + " " + call.Args["thread_ts"]
				seen[place] = append(seen[place], call.At)
			}
		}
	}
	for _, times := range seen {
		slices.SortFunc(times, time.Time.Compare)
		for i := 1; i < len(times); i++ {
			longest = max(longest, times[i].Sub(times[i-1]))
		}
	}
	return longest
}

// TestABusyChannel has 60 messages come in one channel in 15 s, with the limits, the clock
// and the defaults as they are: all are answered, in their order, at the platform's pace. It
// counts what is refused for its pace, so nothing but its parts runs beside it.
func TestABusyChannel(t *testing.T) {
	t.Run("Slack", testBusySlackChannel)
	t.Run("Discord", testBusyDiscordChannel)
}

func testBusySlackChannel(t *testing.T) {
	t.Parallel()
	for name, redis := range map[string]func(t *testing.T) string{
		"one process":                 func(*testing.T) string { return "" },
		"three processes, over Redis": func(t *testing.T) string { return servertest.OwnRedis(t).URL },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := redis(t)
			processes := 1
			if address != "" {
				processes = 3
			}
			w := newWorkplace(t, 1, address)
			w.begin(processes)
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			for range 60 {
				<-tick.C
				w.writes(w.general, "")
			}
			v := w.settled(answeredWithin)
			if v.asked != 60 || !v.clean() {
				t.Errorf("three minutes later: %+v", v)
			}
			silent := w.longestSilence()
			t.Logf("%+v; refused for their pace: %v; answers that overtook another: %d; the longest silence of a thread that waits: %s",
				v, w.refusedForPace(), w.channelOrder(w.general), silent.Round(time.Second))
			if refused := w.refusedForPace()["chat.postMessage"]; refused > 6 {
				t.Errorf("Slack had to refuse %d of 60 posts", refused)
			}
		})
	}
}

// TestSlackIsDownForAMinute has Slack answer 500 for a minute while people write in ten
// channels: all are answered once it is well again.
func TestSlackIsDownForAMinute(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t, 10, "")
	w.begin(1)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for i := range 150 {
		switch i {
		case 10:
			w.Disturb(func(string) (slacktest.Fault, bool) {
				return slacktest.Fault{Status: http.StatusInternalServerError}, true
			})
		case 130:
			w.Disturb(nil)
		}
		<-tick.C
		w.writes(w.channels[i%len(w.channels)], "")
	}
	v := w.settled(answeredWithin)
	if v.asked != 150 || !v.clean() {
		t.Errorf("three minutes after Slack was well again: %+v", v)
	}
	t.Logf("%+v; calls: %v", v, w.calls())
}

// calls counts the calls by their methods.
func (w *workplace) calls() map[string]int {
	made := map[string]int{}
	for _, call := range w.Calls("") {
		made[call.Method]++
	}
	return made
}

// disturbed are the methods whose calls go wrong.
var disturbed = []string{
	"chat.postMessage", "chat.update", "chat.delete", "conversations.replies", "conversations.history", "assistant.threads.setStatus",
	"chat.startStream", "chat.appendStream", "chat.stopStream",
}

// goesWrong has one call in twelve go wrong, as those of a busy Slack do.
func (w *workplace) goesWrong(method string) (slacktest.Fault, bool) {
	if !slices.Contains(disturbed, method) {
		return slacktest.Fault{}, false
	}
	late := time.Duration(4000+w.roll(5000)) * time.Millisecond
	faults := []struct {
		name  string
		fault slacktest.Fault
	}{
		{"500", slacktest.Fault{Status: http.StatusInternalServerError}},
		{"done, and 503", slacktest.Fault{Status: http.StatusServiceUnavailable, Done: true}},
		{"429", slacktest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Duration(1+w.roll(5)) * time.Second}},
		{"done late", slacktest.Fault{Late: late}},
		{"503, and done late", slacktest.Fault{Status: http.StatusServiceUnavailable, Done: true, Late: late}},
		{"hung up, and done late", slacktest.Fault{Hang: true, Late: late}},
	}
	roll := w.roll(12 * len(faults))
	if roll >= len(faults) {
		return slacktest.Fault{}, false
	}
	w.count("slack: " + faults[roll].name)
	return faults[roll].fault, true
}

// trouble has things go wrong until talked is closed. It is the test's own goroutine.
func (w *workplace) trouble(redis *servertest.Server, talked <-chan struct{}) {
	for {
		select {
		case <-talked:
			return
		case <-time.After(time.Duration(2000+w.roll(8000)) * time.Millisecond):
		}
		at := w.roll(len(w.processes))
		switch roll := w.roll(24); {
		case roll < 9:
			w.count("process killed")
			w.strike(at, syscall.SIGKILL)
		case roll < 12:
			w.count("process drained")
			w.strike(at, syscall.SIGTERM)
		case roll < 17:
			w.count("process stopped for longer than its lease")
			w.signal(at, syscall.SIGSTOP)
			<-time.After(time.Duration(13+w.roll(10)) * time.Second)
			w.signal(at, syscall.SIGCONT)
		case roll < 20:
			w.count("redis killed")
			redis.Kill()
			redis.Start()
		case roll < 23:
			w.count("redis restarted")
			redis.ShutDown()
			redis.Start()
		default:
			w.count("slack down for a minute")
			w.Disturb(func(string) (slacktest.Fault, bool) {
				return slacktest.Fault{Status: http.StatusInternalServerError}, true
			})
			<-time.After(time.Minute)
			w.Disturb(w.goesWrong)
		}
	}
}

func (w *workplace) signal(at int, by syscall.Signal) {
	if err := w.processes[at].command.Process.Signal(by); err != nil {
		w.t.Error(err)
	}
}

// talk has people write so many messages: in new threads, in those that are there, and many
// in one channel at once.
func (w *workplace) talk(messages int) {
	var open [][2]string // channel and thread
	for written := 0; written < messages; {
		channel, many := w.channels[w.roll(len(w.channels))], 1
		if w.roll(40) == 0 {
			many = 5 + w.roll(15)
		}
		for range min(many, messages-written) {
			thread := ""
			if old := w.roll(3 * max(len(open), 1)); many == 1 && old < len(open) {
				channel, thread = open[old][0], open[old][1]
			}
			root := w.writes(channel, thread)
			if thread == "" {
				open = append(open, [2]string{channel, root})
			}
			written++
		}
		if len(open) > 40 {
			open = open[len(open)-40:]
		}
		<-time.After(time.Duration(float64(many) / *platformRate * float64(500+w.roll(1000)) * float64(time.Millisecond)))
	}
}

// TestSlackChaos has three processes work for a Slack that goes wrong, and kills, stops and
// cuts them off meanwhile; it is judged by what stands in the threads in the end. make
// chaos-platform runs it for longer.
func TestSlackChaos(t *testing.T) {
	t.Parallel()
	t.Logf("seed %d: repeat with -platform.seed=%[1]d", chooseSlackSeed())
	redis := servertest.OwnRedis(t, "--appendfsync", "always")
	w := newWorkplace(t, 4*int(*platformRate), redis.URL)
	w.employModel()
	w.begin(3)
	w.Disturb(w.goesWrong)
	begun, talked := time.Now(), make(chan struct{})
	go func() {
		defer close(talked)
		w.talk(*platformMessages)
	}()
	w.trouble(redis, talked)
	w.Disturb(nil)
	ended := time.Now()
	late := w.awaitAnswers(ended)
	answered := time.Since(ended)
	if len(late) > 0 {
		t.Errorf("%d messages are not answered %s after the end, or after Slack could deliver them: %v", len(late), answeredWithin, late)
	}
	<-time.After(40 * time.Second) // by then Slack has carried out all that it was asked for
	v := w.settled(2 * answeredWithin)
	if !v.clean() || v.asked < *platformMessages*99/100 {
		t.Errorf("in the threads stands: %+v", v)
		w.tellCalls(v)
	}
	t.Logf("%d messages in %s, the last answered %s after the end; judged %s after it: %+v; struck: %v; calls: %v; refused for their pace: %v",
		v.asked, ended.Sub(begun).Round(time.Second), answered.Round(time.Second), time.Since(ended).Round(time.Second), v, w.struck, w.calls(), w.refusedForPace())
	w.unacknowledged()
}

// unacknowledged tells of messages that Slack could not deliver, which nobody could answer.
func (w *workplace) unacknowledged() {
	missed := 0
	for _, delivery := range w.Deliveries() {
		if !delivery.Acked {
			missed++
		}
	}
	w.t.Logf("%d deliveries were never acknowledged", missed)
}
