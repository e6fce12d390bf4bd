package smalltalk_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/language/smalltalk"
)

func TestMessagesThatAskNothing(t *testing.T) {
	for text, want := range map[string]smalltalk.Message{
		"Hiiii!":                              {smalltalk.Greeting, "en"},
		"hello there 👋":                       {smalltalk.Greeting, "en"},
		"hey, how are you doing today?":       {smalltalk.Greeting, "en"},
		"Guten Tag zusammen":                  {smalltalk.Greeting, "de"},
		"Bonjour à tous !":                    {smalltalk.Greeting, "fr"},
		"¡Buenos días!":                       {smalltalk.Greeting, "es"},
		"bom dia pessoal":                     {smalltalk.Greeting, "pt"},
		"buongiorno a tutti":                  {smalltalk.Greeting, "it"},
		"goedemorgen allemaal":                {smalltalk.Greeting, "nl"},
		"おはようございます":                           {smalltalk.Greeting, "ja"},
		"大家好":                                 {smalltalk.Greeting, "zh"},
		"Perfect, thanks a lot for your help": {smalltalk.Thanks, "en"},
		"vielen Dank, hat geklappt":           {smalltalk.Thanks, "de"},
		"非常感谢":                                {smalltalk.Thanks, "zh"},
		"see you tomorrow!":                   {smalltalk.Goodbye, "en"},
		"ok got it":                           {smalltalk.Ack, "en"},
		"alles klar":                          {smalltalk.Ack, "de"},
		"🎉🎉":                                  {smalltalk.Emoji, "en"},
		"you are so stupid":                   {smalltalk.Insult, "en"},
		"tu es nul":                           {smalltalk.Insult, "fr"},
		"testing 1 2 3":                       {smalltalk.Test, "en"},
		"asdfasdf":                            {smalltalk.Gibberish, "en"},
		"hi, who are you?":                    {smalltalk.Who, "en"},
		"bist du ein Bot?":                    {smalltalk.Who, "de"},
		"What can you help me with?":          {smalltalk.Can, "en"},
		"Do you understand Spanish?":          {smalltalk.Can, "en"},
		"which documents do you have":         {smalltalk.Know, "en"},
		"何ができますか？":                            {smalltalk.Can, "ja"},
		"你有哪些文档？":                             {smalltalk.Know, "zh"},
		"help!":                               {smalltalk.Use, "en"},
	} {
		if got, ok := smalltalk.Read(text); !ok || got != want {
			t.Errorf("Read(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestQuestionsAreNoSmallTalk(t *testing.T) {
	for _, text := range []string{
		"hi, what is a deployment?", "test the connection", "how do I use the api", "what can the operator do", "help with login",
		"thanks! and how do I undo it?", "who are the owners", "ok and then?", "kubectl", "https", "good morning report", "nginx", "?", "",
		"what do you know about invoices", "the first invoice", "was ist ein Test-Lauf", "check the dns", "デプロイの方法", "测试环境在哪里",
	} {
		if got, ok := smalltalk.Read(text); ok {
			t.Errorf("Read(%q) = %v", text, got)
		}
	}
}

func TestRepliesToAQuestion(t *testing.T) {
	for _, text := range []string{"never mind", "Thanks, I found it myself!", "ok, solved it", "hat sich erledigt, danke", "laisse tomber", "算了"} {
		if _, ok := smalltalk.Drops(text); !ok {
			t.Errorf("%q does not drop the question", text)
		}
	}
	for _, text := range []string{"thanks", "the server", "how do I cancel an order", "found it in the log, what now"} {
		if _, ok := smalltalk.Drops(text); ok {
			t.Errorf("%q drops the question", text)
		}
	}
	for text, want := range map[string]int{"first": 1, "the second one": 2, "2": 2, "option 3 please": 3, "I mean the last one": -1, "die zweite": 2, "第二个": 2, "b": 2} {
		if got, ok := smalltalk.Place(text); !ok || got != want {
			t.Errorf("Place(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"the one with tls", "second server", "12", "the"} {
		if got, ok := smalltalk.Place(text); ok {
			t.Errorf("Place(%q) = %d", text, got)
		}
	}
	for text, want := range map[string]string{"different question: who pays?": "who pays?", "Andere Frage: wer zahlt?": "wer zahlt?"} {
		if got, ok := smalltalk.Other(text); !ok || got != want {
			t.Errorf("Other(%q) = %q, %v", text, got, ok)
		}
	}
	if _, ok := smalltalk.Other("the port: 8080"); ok {
		t.Error("a port is another question")
	}
	for _, text := range []string{"what?", "??", "huh", "was meinst du?"} {
		if _, ok := smalltalk.AsksAgain(text); !ok {
			t.Errorf("%q does not ask again", text)
		}
	}
}

func TestPointingAtWhatOthersSaid(t *testing.T) {
	for _, text := range []string{"any idea?", "?", "", "is that right?", "can you help Sam out", "which of us is right", "fyi, what do we tell them", "stimmt das?", "你怎么看？"} {
		if !smalltalk.Points(text) {
			t.Errorf("%q points at nothing", text)
		}
	}
	for _, text := range []string{"what is a chart?", "is the port right for tls?", "👍"} {
		if smalltalk.Points(text) {
			t.Errorf("%q only points", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"hi", "hiiii there", "你好", "👍", "'", "* * *", "\xff", "the the the the the the the the"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		message, ok := smalltalk.Read(text)
		if ok && (message.Kind == "" || message.Language == "") {
			t.Errorf("Read(%q) = %v", text, message)
		}
		smalltalk.Drops(text)
		smalltalk.Points(text)
		smalltalk.Place(text)
		smalltalk.Other(text)
	})
}
