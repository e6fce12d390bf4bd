package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
)

// testKey is what must not show up anywhere.
const testKey = "sk-test-0123456789"

func TestModelsWithEverySetting(t *testing.T) {
	host := testHost(t).with(map[string]string{"OPENAI_API_KEY": testKey})
	file := write(t, host.WorkDir, "keys/azure", "\n "+testKey+"-azure \n")
	path := write(t, host.WorkDir, "cairn.yaml", `
budget: {run_tokens: 50000, day_tokens: 2000000, run_cost: 0.25, day_cost: 20}
answer: {link_hosts: [Wiki.Example.com, localhost]}
models:
  - roles: [understand, verify]
    model: gpt-small
    key_env: OPENAI_API_KEY
  - roles: [answer]
    base_url: https://team.openai.azure.com/
    model: gpt-large
    key_file: keys/azure
    azure_deployment: large
    azure_api_version: 2024-10-21
    context: 128000
    max_reply: 4096
    temperature: 0
    timeout: 1m
    first_token_timeout: 5s
    stall_timeout: 1500ms
    retries: 0
    requests_per_minute: 60
    tokens_per_minute: 100000
    price_prompt: 2.5
    price_completion: 10
  - roles: [embed]
    base_url: http://localhost:11434/v1
    model: nomic-embed-text
    dimensions: 256
    context: 2048
`)
	got, err := host.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	want := []Model{
		{
			Roles: []Role{RoleUnderstand, RoleVerify}, Name: "gpt-small",
			Key:     Key{Secret: llm.NewSecret(testKey), Env: "OPENAI_API_KEY"},
			Context: 8192, MaxReply: 3000, Timeout: 2 * time.Minute, FirstTokenTimeout: 20 * time.Second, StallTimeout: 20 * time.Second, Retries: 2,
		},
		{
			Roles: []Role{RoleAnswer}, BaseURL: "https://team.openai.azure.com", Name: "gpt-large",
			Key:             Key{Secret: llm.NewSecret(testKey + "-azure"), File: file},
			AzureDeployment: "large", AzureAPIVersion: "2024-10-21", Context: 128000, MaxReply: 4096, Temperature: &zero,
			Timeout: time.Minute, FirstTokenTimeout: 5 * time.Second, StallTimeout: 1500 * time.Millisecond,
			RequestsPerMinute: 60, TokensPerMinute: 100000, PricePrompt: 2.5, PriceCompletion: 10,
		},
		{
			Roles: []Role{RoleEmbed}, BaseURL: "http://localhost:11434/v1", Name: "nomic-embed-text",
			Context: 2048, Dimensions: 256, Timeout: 2 * time.Minute, Retries: 2,
		},
	}
	if !reflect.DeepEqual(got.Models, want) {
		t.Errorf("models %+v,\nwant %+v", got.Models, want)
	}
	if got.Budget != (Budget{RunTokens: 50000, DayTokens: 2000000, RunCost: 0.25, DayCost: 20}) {
		t.Errorf("budget %+v", got.Budget)
	}
	if !slices.Equal(got.Answer.LinkHosts, []string{"wiki.example.com", "localhost"}) {
		t.Errorf("link_hosts %q", got.Answer.LinkHosts)
	}
	if answers, ok := got.Model(RoleAnswer); !ok || answers.Name != "gpt-large" {
		t.Errorf("answers are by %+v", answers)
	}

	shown := got.String()
	again := Defaults(host)
	if err := errors.Join(decode(&again, path, []byte(shown), host)...); err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	again.File = got.File
	if !reflect.DeepEqual(again, got) {
		t.Errorf("%s\nreads back as %+v", shown, again)
	}
	if strings.Count(shown, "# key: set\n") != 2 || strings.Count(shown, "# key: not set\n") != 1 {
		t.Errorf("does not say which keys are set:\n%s", shown)
	}
	for _, text := range []string{shown, fmt.Sprintf("%v %+v %#v", got, got, got)} {
		if strings.Contains(text, testKey) {
			t.Errorf("shows a key:\n%s", text)
		}
	}
}

func TestModelOfTheEnvironment(t *testing.T) {
	host := testHost(t)
	file := write(t, host.WorkDir, "key", testKey)
	for _, test := range []struct {
		name, text string
		variables  map[string]string
		want       []Model // roles, address, name and key
	}{
		{
			"all roles", "",
			map[string]string{envModelURL: "http://localhost:11434/v1/", envModelName: "llama"},
			[]Model{{Roles: chatRoles, BaseURL: "http://localhost:11434/v1", Name: "llama"}},
		},
		{
			"OpenAI by default", "",
			map[string]string{envModelName: "gpt", envModelKey: testKey},
			[]Model{{Roles: chatRoles, Name: "gpt", Key: Key{Secret: llm.NewSecret(testKey), Env: envModelKey}}},
		},
		{
			"key in a file", "",
			map[string]string{envModelName: "gpt", envModelKeyFile: "key"},
			[]Model{{Roles: chatRoles, Name: "gpt", Key: Key{Secret: llm.NewSecret(testKey), File: file}}},
		},
		{
			"the roles left open", "models: [{roles: [answer], model: a, base_url: 'http://a/v1'}, {roles: [embed], model: e, base_url: 'http://e/v1'}]",
			map[string]string{envModelURL: "http://b/v1", envModelName: "b"},
			[]Model{
				{Roles: []Role{RoleAnswer}, BaseURL: "http://a/v1", Name: "a"},
				{Roles: []Role{RoleEmbed}, BaseURL: "http://e/v1", Name: "e"},
				{Roles: []Role{RoleUnderstand, RoleVerify}, BaseURL: "http://b/v1", Name: "b"},
			},
		},
		{
			"none left open, and the key of an entry that names none", "models: [{roles: [answer, understand, verify], model: a}]",
			map[string]string{envModelName: "b", envModelKey: testKey},
			[]Model{{Roles: []Role{RoleAnswer, RoleUnderstand, RoleVerify}, Name: "a", Key: Key{Secret: llm.NewSecret(testKey), Env: envModelKey}}},
		},
		{"a key alone is no model", "", map[string]string{envModelKey: testKey}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(t, host.WorkDir, "cairn.yaml", test.text)
			config, err := host.with(test.variables).Load("")
			if err != nil {
				t.Fatal(err)
			}
			var got []Model
			for _, m := range config.Models {
				got = append(got, Model{Roles: m.Roles, BaseURL: m.BaseURL, Name: m.Name, Key: m.Key})
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("models %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestModelsReportEverythingAtOnce(t *testing.T) {
	host := testHost(t).with(map[string]string{
		"CAIRN_BUDGET_RUN_TOKENS": "-1", "CAIRN_ANSWER_LINK_HOSTS": "a.example, https://b.example", "BROKEN_KEY": "two words",
	})
	write(t, host.WorkDir, "empty", " \n")
	path := write(t, host.WorkDir, "cairn.yaml", `models:
  - roles: [answer, sing, answer]
    model: m
  - model: two words
    base_url: https://user:`+testKey+`@example.com/v1
    key: `+testKey+`
    key_env: `+testKey+`
    temperature: 3
    timeout: 5
  - {roles: [verify], model: m}
  - {roles: [verify, embed], model: m, base_url: "http://h"}
  - {roles: [], model: m, base_url: "http://h?key=`+testKey+`"}
  - {roles: [understand], model: m, base_url: "http://h", dimensions: 5, context: 100, max_reply: 100, azure_deployment: d}
  - {roles: [embed], model: m, base_url: "http://h", key_file: `+testKey+`}
  - {roles: [], model: m, key_env: NOT_SET}
`)
	_, err := host.Load("")
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`2: models[0].roles: "sing": want understand, answer, verify, embed`,
		`2: models[0].roles: "answer": stands there twice`,
		`4: models[1].model: "two words": want a name of 1 to 200 characters, without white space`,
		`5: models[1].base_url: a user and password do not stand in an address: give the server's key with key_env or key_file`,
		`6: models[1].key: a secret never stands in this file: name the environment variable that holds it with key_env, or a file with key_file`,
		`7: models[1].key_env: want the name of an environment variable, in capitals, such as OPENAI_API_KEY`,
		`8: models[1].temperature: "3": want a number from 0 to 2`,
		`9: models[1].timeout: "5": want a time from 100ms to 1h0m0s, such as 30s`,
		`4: models[1].roles: is missing`,
		`10: models[2].key_env: this server takes no request without a key: set the environment variable CAIRN_LLM_KEY, or say with key_env or key_file where the key is`,
		`11: models[3].roles: verify: another model has this role`,
		`12: models[4].base_url: want an address without a query: for Azure set azure_api_version, for a key key_env or key_file`,
		`13: models[5].dimensions: means nothing for a model that talks: remove it`,
		`14: models[6].roles: embed: another model has this role`,
		`15: models[7].roles: is empty: say what the model does`,
	}
	for i := range want {
		want[i] = path + ":" + want[i]
	}
	want = append(want,
		`environment variable CAIRN_ANSWER_LINK_HOSTS: "https://b.example": want the name of a host alone, such as wiki.example.com`,
		`environment variable CAIRN_BUDGET_RUN_TOKENS: "-1": want a whole number from 0 to 2000000000`)
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("errors:\n%s\nwant:\n%s", err, strings.Join(want, "\n"))
	}
	if strings.Contains(err.Error(), testKey) {
		t.Error("shows a key")
	}
}

// Each is wrong by itself: the entry is sound but for that.
func TestModelsThatDoNotFitTogether(t *testing.T) {
	for _, test := range []struct {
		name, entry string
		variables   map[string]string
		want        string
	}{
		{"embed and answer", `roles: [embed, answer], base_url: "http://h"`, nil, `models[0].roles: embed stands alone`},
		{"no room", `roles: [answer], base_url: "http://h", context: 100, max_reply: 100`, nil, `models[0].max_reply: 100 leaves no room`},
		{"half of Azure", `roles: [answer], base_url: "http://h", azure_deployment: d`, nil, `set both`},
		{"Azure without an endpoint", `roles: [answer], azure_deployment: d, azure_api_version: v`, map[string]string{envModelKey: testKey}, `models[0].base_url: is missing: for Azure`},
		{"Azure without a key", `roles: [answer], base_url: "https://h", azure_deployment: d, azure_api_version: v`, nil, `takes no request without a key`},
		{"OpenAI without a key", `roles: [answer], base_url: "https://API.openai.com/v1"`, nil, `takes no request without a key`},
		{"key twice", `roles: [answer], key_env: A, key_file: b`, nil, `models[0].key_file: key_env says already`},
		{"variable not set", `roles: [answer], key_env: MY_KEY`, nil, `models[0].key_env: the environment variable MY_KEY is not set`},
		{"two keys in the environment", `roles: [answer]`, map[string]string{envModelKey: testKey, envModelKeyFile: "key"}, `are both set: keep one of them`},
		{"key in two lines", `roles: [answer], key_env: MY_KEY`, map[string]string{"MY_KEY": testKey + "\n" + testKey}, `in one line and without white space`},
		{"no such file", `roles: [answer], key_file: nowhere`, nil, `models[0].key_file: there is no such file`},
		{"empty file", `roles: [answer], key_file: empty`, nil, `models[0].key_file: the file is empty: put the key into it`},
		{"folder", `roles: [answer], key_file: .`, nil, `models[0].key_file: want a file that holds the key`},
		{"large file", `roles: [answer], key_file: large`, nil, `is larger than 65536 bytes`},
		{"no such file in the environment", `roles: [answer]`, map[string]string{envModelKeyFile: "nowhere"}, `environment variable CAIRN_LLM_KEY_FILE: there is no such file`},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := testHost(t).with(test.variables)
			write(t, host.WorkDir, "empty", "\n")
			write(t, host.WorkDir, "large", strings.Repeat("k", maxKey+1))
			write(t, host.WorkDir, "cairn.yaml", "models: [{model: m, "+test.entry+"}]")
			_, err := host.Load("")
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "cairn.yaml:1: ") || strings.Contains(err.Error(), testKey) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestKeyFileThatMayNotBeRead(t *testing.T) {
	err := unreadable(&os.PathError{Op: "open", Path: testKey, Err: os.ErrPermission})
	if err == nil || !strings.Contains(err.Error(), "may not read the file: change its owner or mode") || strings.Contains(err.Error(), testKey) {
		t.Errorf("error %v", err)
	}
	err = unreadable(&os.PathError{Op: "read", Path: testKey, Err: errors.New("input/output error")})
	if err == nil || !strings.Contains(err.Error(), "input/output error") || strings.Contains(err.Error(), testKey) {
		t.Errorf("error %v", err)
	}
}

func TestModelOfTheEnvironmentIsChecked(t *testing.T) {
	for _, test := range []struct {
		variables map[string]string
		want      string
	}{
		{map[string]string{envModelURL: "http://h/v1"}, "environment variable CAIRN_LLM_MODEL: is not set, but CAIRN_LLM_URL is"},
		{map[string]string{envModelURL: "ftp://h", envModelName: "m"}, "environment variable CAIRN_LLM_URL: want an address such as"},
		{map[string]string{envModelName: "gpt"}, "this server takes no request without a key: set the environment variable CAIRN_LLM_KEY"},
		{map[string]string{envModelURL: "http://h/v1", envModelName: "m", envModelKeyFile: "nowhere"}, "environment variable CAIRN_LLM_KEY_FILE: there is no such file"},
		{map[string]string{envModelURL: "http://h/v1", envModelName: "m", "CAIRN_BUDGET_DAY_COST": "1"}, "budget: run_cost and day_cost count nothing without prices"},
	} {
		_, err := testHost(t).with(test.variables).Load("")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error %v, want %q", test.variables, err, test.want)
		}
	}
}

func TestLinkHostsOfTheEnvironmentReplaceTheFiles(t *testing.T) {
	host := testHost(t)
	write(t, host.WorkDir, "cairn.yaml", "answer: {link_hosts: [a.example]}")
	got, err := host.with(map[string]string{"CAIRN_ANSWER_LINK_HOSTS": "b.example, C.example"}).Load(filepath.Join(host.WorkDir, "cairn.yaml"))
	if err != nil || !slices.Equal(got.Answer.LinkHosts, []string{"b.example", "c.example"}) {
		t.Errorf("link_hosts %q, error %v", got.Answer.LinkHosts, err)
	}
}

// What the page recommends must be sound, and name a model to answer.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	recipes := 0
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		_, rest, found := strings.Cut(rest, "```yaml\n")
		recipe, _, closed := strings.Cut(rest, "```\n")
		if !found || !closed {
			continue
		}
		recipes++
		host := testHost(t)
		host.Getenv = func(name string) string {
			if strings.HasSuffix(name, "_KEY") && !strings.HasPrefix(name, "CAIRN_") {
				return testKey
			}
			return ""
		}
		write(t, host.WorkDir, "cairn.yaml", recipe)
		config, err := host.Load("")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := config.Model(RoleAnswer); !ok && err == nil {
			t.Errorf("%s: no model answers", name)
		}
	}
	if recipes != 6 {
		t.Errorf("%d recipes, want 6", recipes)
	}
}
