/*
Command bot is cairn: a teammate that answers a team's questions from the team's own
documents and shows where every statement comes from.

This is a tour of the code from the bottom up, in the order in which it is best read. The words
that it uses are explained in docs/glossary.md.

# One question, from Slack and back

Who looks for one thing finds it along the way of a question, each step named by file and function:

  - adapters/slack/receive.go: an event enters (Handler), translate.go turns it into a signal, and
    dispatch.go hands the message on (handleMessage);
  - chat/interact/hear.go decides whether it is for the bot; bot/intake.go accepts it as a job of
    its thread (acceptJob);
  - bot/work.go: a worker claims the job (handleLease), and runs/hold.go renews its lease while it
    works (renewLease);
  - bot/conversation.go loads the session (loadSession); bot/turn.go decides what the message is
    (decideRequest) and has the router choose a flow (route.go, chooseFlow; flows/routing,
    Router.Route); bot/run.go runs it (runFlow), and bot/flowrun.go says what it is asked
    (buildRequest);
  - graph saves a checkpoint after every step; graph/decode.go has what it holds: the fields of the
    state, the nodes of the step, their visits, and the question that a person was asked (frameDoc);
  - bot/conclude.go commits what came of it (commitAndShow), and posts a question (postQuestion);
    bot/delivery.go posts a reply (postReply), adapters/slack/post.go sends it (Post).

# Languages

[github.com/cairn-bot/cairn/internal/language] recognizes nine languages by small tables of words, and
[github.com/cairn-bot/cairn/internal/phrases] has Cairn's own lines in each of them. [github.com/cairn-bot/cairn/internal/shorten] cuts texts of any
language.

# Words, passages, vectors

[github.com/cairn-bot/cairn/internal/knowledge] has the nouns: a document is what a person would open, a
passage the piece of it that is searched and cited. [github.com/cairn-bot/cairn/internal/knowledge/lexical]
says what a word is. Every backend of the index and every flow analyses text with it, so
that they agree; it also has the BM25 formula and the list of words that tell nothing.
[github.com/cairn-bot/cairn/internal/knowledge/embed] is the contract of what makes vectors, and embed/local
the one that needs no server: Google's Universal Sentence Encoder Lite, computed in Go
from weights inside the binary. It knows English only, which is its greatest weakness:
passages and questions in other languages are left to their words.

# From a folder to an index

[github.com/cairn-bot/cairn/internal/knowledge/connect] is the contract of what brings documents in;
connect/files walks a folder and never leaves it, connect/git reads a branch by way of a mirror
that repository/git keeps, connect/website reads a sitemap or follows links, connect/forge reads
repositories on GitHub, GitLab and Gitea with their issues (sync.go, then items.go; dialect.go is how
the three differ), connect/confluence the pages of Confluence Cloud and
connect/jira the issues of Jira Cloud, both by way of connect/atlassian, connect/notion the pages of
Notion and connect/drive the files of Google Drive, of all of which only stand-ins were met, and connect/remote asks their servers. connect/mcp asks MCP
servers for their resources, and by its live.go for what their tools find while a question is answered; [github.com/cairn-bot/cairn/internal/threadsource] reads channels: its answered.go says which
threads people answered. What a forge tells by a webhook comes in at
app's webhooks.go; who may read what is private there, at app's forges.go. No GitHub and no GitLab was
met, only a real Gitea. [github.com/cairn-bot/cairn/internal/knowledge/parse] turns
bytes into sections with anchors, and has parse/ocr read pictures, [github.com/cairn-bot/cairn/internal/knowledge/chunk] cuts those into
passages, and [github.com/cairn-bot/cairn/internal/knowledge/ingest] runs the pipeline: text is written first
and can be searched at once, vectors follow. Its schedule.go reads sources again and again in a
process that serves; app's sources.go has the sources that are configured. [github.com/cairn-bot/cairn/internal/knowledge/index] is the
contract of the store. [github.com/cairn-bot/cairn/internal/knowledge/index/engine] is the index itself, over SQL
that SQLite and PostgreSQL share: read its engine.go first. index/embedded and index/postgres
open a database for it, and search vectors in their own ways.

# From a question to evidence

[github.com/cairn-bot/cairn/internal/knowledge/retrieve] fuses what was found by words with what was found by
meaning. How much meaning counts was chosen by measuring, see docs/benchmarks.md.

# The engine and its flows

[github.com/cairn-bot/cairn/internal/graph] runs typed graphs: nodes return changes as data, a checkpoint is
saved after every step, a node may ask a person and is resumed with the answer. Read its
doc.go, then step.go, then run.go. It imports the standard library alone.
[github.com/cairn-bot/cairn/internal/graph/draw] draws graphs.

# Models and agents

[github.com/cairn-bot/cairn/internal/llm] is the contract of a language model: a conversation, streamed, with
structured replies and tools. llm/openai speaks the OpenAI wire format, llm/gate stands in
front of it with budget, rate limit, breaker and retries, and llm/llmtest is a scripted
server to test against. [github.com/cairn-bot/cairn/internal/agent] is a message bus with agents on it, none of
which can hang the one that asks.

# The main flow

[github.com/cairn-bot/cairn/internal/graph/flows] is the contract of what the bot can do. flows/answer is the
main one: start with answer.go, whose plan method is the whole graph, and agents.go, which routes to
the agents that do the work, each in a file of its own; then follow the nodes in their order: understand.go and read.go, clarify.go, process.go,
generate.go and write.go, verify.go and check.go. What is found is put in order in its folder
rerank, and with no model what is quoted is chosen in its folder quoting, both by weights that
were fitted on question sets. What a model wrote is read, and written out again, by its folder
reply, and judged in judgeclaims.go. What models are sent is in its folder prompts, made by
[github.com/cairn-bot/cairn/internal/llm/prompt]; what may leave in an answer in llm/guard, and how far
a text bears on a question, or supports a statement, in knowledge/support. flows/routing decides which flow
a message goes to; flows/analyze and flows/buildcontext read whole documents by way of
[github.com/cairn-bot/cairn/internal/document], which finds in them by rules, or by a model part by part, what each
statement can be shown to rest on. flows/repo reports on repositories, which
[github.com/cairn-bot/cairn/internal/repository] opens, fetches and takes apart without running anything of them.
flows/inspect answers questions about the screens of an app: [github.com/cairn-bot/cairn/internal/inspect] is the
contract of what shows one, inspect/session reads what was recorded, inspect/relay asks an app that
runs, over the Socket.IO of inspect/socketio, and inspect/project maps
widgets to the code that inspect/jsx parses. inspect/browser looks at any web page in a Chromium, and
inspect/webcode follows what it finds through the page's project; flows/inspect's web.go uses both, and its press.go
has a control pressed that a person approved. With no model the decisions of flows/answer to ask
back and to abstain are two fitted models of 16 features each (judge.go, weigh.go): the part of
this program that we would trust the least on documents that nobody has seen. flows/echo is
the smallest flow there is.

Before that flow an answer may be given that an expert pinned to the same question:
[github.com/cairn-bot/cairn/internal/curated], whose finder.go and form.go say when two questions are the same.
bot's pin.go has who may pin, and [github.com/cairn-bot/cairn/internal/access]'s owners.go who looks after collections.

# Pages

[github.com/cairn-bot/cairn/internal/pages] keeps what people write together. pages/tree is the document: read its node.go,
then decode.go, normalize.go and encode.go, which do what Lexical does and are tested against it;
pages/merge joins two changes of it and names what both changed. library.go is how pages are used,
retention.go which versions are kept;
flows/page is what people say in a thread, and [github.com/cairn-bot/cairn/internal/adapters/web/editor] where they
write in a browser, in Lexical: read its save.go, then assets/sync.js, which keeps a window and the server
the same. pages/tools is how a language model changes a page: flows/page's agent.go asks it in bounded rounds,
and context.go is what it is shown. A checkpoint holds the calls, and the draft is made of them anew.
pages/pagesource has the index read pages as they change; app's written.go keeps deleted ones out of answers
before that. No model was tried on it that people use: what it does is tested with scripted ones.
[github.com/cairn-bot/cairn/internal/knowledge/correction] finds by rules what messages correct in documents; flows/page's correct.go proposes
it, and bot's correct.go has messages looked at that nobody addressed to the bot; connect/forge's propose.go
opens merge requests, by way of app's merges.go. [github.com/cairn-bot/cairn/internal/digest] is what documents lack: app's digests.go
has a digest queued for each source that wants one, bot's digest.go posts it once, and
[github.com/cairn-bot/cairn/internal/pages/outline] drafts a page about a line of it.

# Talking

[github.com/cairn-bot/cairn/internal/chat] is what the bot and the adapters say to each other; post.go has what
an adapter offers whose messages are posted. [github.com/cairn-bot/cairn/internal/session] remembers threads: what was
said lately word for word, and what was spoken of before that as topics.
adapters/terminal and adapters/web are the two ways to talk that need no account; both read
the Markdown of an answer with [github.com/cairn-bot/cairn/internal/chat/markup]. What adapters of platforms share is
in chat/interact (when a message is for the bot, who may ask, and what comes of each button),
chat/render (an answer as styled pieces, packed into messages, and how it came about in words),
chat/webhook (deliveries, and JSON of which one value is not as expected). What people attach on the web page is kept by
[github.com/cairn-bot/cairn/internal/adapters/web/uploads], as Slack and Discord keep theirs.

[github.com/cairn-bot/cairn/internal/adapters/slack] is Cairn in Slack. What comes in is translated by pure
functions (translate.go, interact.go), dispatch.go and surface.go hand it to chat/interact, and what goes
out is rendered by pure functions as well (render.go). adapters/slack/slacktest is a strict
stand-in for Slack that all of it is tested against, and people's conversations with it are
golden files that read like a chat. adapters/slack/pace shares Slack's limits among all
processes: who wants to call takes a turn, or gives its worker back until the turn comes; its Redis
counts for several processes. The limits in slacktest are Slack's documented ones; where the
documents are silent they are guesses, and nothing here has met the real Slack yet.

[github.com/cairn-bot/cairn/internal/adapters/discord] is Cairn in Discord, in the same order: translate.go,
dispatch.go, surface.go, render.go, then post.go and what speaks to Discord. adapters/discord/gateway holds
the connections, whose shards replicas share by leases, and adapters/discord/fleet keeps all of
them together within Discord's limits; both have a store in Redis and one in the process.
adapters/discord/discordtest is the stand-in for Discord: each request is checked against
Discord's own OpenAPI description. Nothing here has met the real Discord either.

[github.com/cairn-bot/cairn/internal/adapters/web/operations] takes no messages in: it is the page for those who run
Cairn, over the contracts of runs, sessions and the index. Its list of runs is filtered by reading every
record that is kept (runs.Filter.Match): how long that takes of a hundred thousand was not measured.
Gaps and threads are made of the last thousand.
adapters/web/openid.go signs people in to it, and to the web page; what the page shows of runs to one who
signed in is bot's redact.go.

# What outlives a process

[github.com/cairn-bot/cairn/internal/runs] is the contract of the queue, the leases, the events and the outbox: start
with its queue.go and lease.go. [github.com/cairn-bot/cairn/internal/store] puts it together with sessions, records
and checkpoints: a Commit is what a worker changes at once, by one script on Redis or one
transaction in SQLite. runs/embedded and runs/redis keep all of it; the package comment of runs/redis lists every key, how nothing gets lost, and what
Redis itself may forget. redis/conn connects, to one server, Sentinel or a Cluster, and
redis/kinds runs the suites on all kinds of servers. [github.com/cairn-bot/cairn/internal/bot] is built on it: a
message becomes a job, a worker that holds the thread's lease deals with it, and whoever
takes the job up after a crash finds in the session how far it came. Read its package
comment, which names the parts of a turn, then intake.go, turn.go, run.go, conclude.go and
delivery.go. crash_test.go
kills and freezes a worker at every call that it makes; bot/chaos does it to real processes, and
slackplatform_test.go and discordplatform_test.go to the whole program on a Slack or a Discord
that goes wrong.
The weakest spot is between the last look at the lease and a platform that takes its time: a
worker that is frozen in exactly that moment posts a second time, and takes that away again
a moment after it goes on, or 45 s later where the platform took its time, too. An edit of what answered a question changes nothing: the run
can't be taken back to where it asked.

# Who may be told

A document has an audience of principals, and an answer is made for the viewers who will see it:
[github.com/cairn-bot/cairn/internal/knowledge] has both (principal.go, viewers.go). [github.com/cairn-bot/cairn/internal/access] finds the
viewers out, from what adapters tell of places and people and from a table of groups;
its SQLite and Redis keep that. Viewers travel in the context, and index.Guard is
where they take effect: whatever answers people reads the index through it, and work that lost
its viewers sees what is public. bot's access.go looks at citations again before an answer is
posted, withdraw.go takes answers back. access's worlds_test.go asks random worlds, against a
model in model_test.go that fits on a page. Statistics of terms are not filtered.

# What is measured

[github.com/cairn-bot/cairn/internal/telemetry] measures from the outside, by decorators of the contracts above,
which [github.com/cairn-bot/cairn/internal/app] puts around what it opens. Read its package comment
and ids.go, which says how a trace crosses the queue without being stored there.
[github.com/cairn-bot/cairn/internal/agent/reports] keeps how the agents of each process are, for the operations page and
cairn status.

[github.com/cairn-bot/cairn/internal/sqlite] opens every SQLite file, for the user that Cairn runs as alone: the index,
and the one database of everything else that a data directory keeps, whose tables are in its
migrations. [github.com/cairn-bot/cairn/internal/listen] opens ports, and keeps those of this machine from names that foreign sites make up;
[github.com/cairn-bot/cairn/internal/publicnet] keeps connections of ours inside the public internet.

[github.com/cairn-bot/cairn/internal/quota] limits what a person and a channel may ask and cost; workers ask it, in bot's
quota.go, and its SQLite and Redis count for all processes. [github.com/cairn-bot/cairn/internal/audit] writes
down what is done to Cairn itself.

# This program

[github.com/cairn-bot/cairn/internal/app] puts the program together: Open in its app.go lists in order what is opened,
Serve in serve.go what each role starts. main.go gives exit codes, commandline.go lists the commands
and reads what was typed, and every command has a file of its own, with its flags. The scripts in
testdata/script run the real program as a person would. What only those who work on Cairn measure is in the
folder tools, a module of its own. [github.com/cairn-bot/cairn/internal/archtest] holds the rules of who may
import whom, of names, and of how many methods a struct has.
*/
package main
