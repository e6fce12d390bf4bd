// Package openai speaks to language models over the OpenAI wire format: OpenAI, Azure,
// Ollama, vLLM, llama.cpp, LiteLLM and what else has it.
//
// Servers differ in what they take. A Model begins with all that the format has, and
// goes without what the server refuses with status 400 or 422: strict schemas, then JSON
// mode, then an instruction; the counts of tokens in streams; streams; a temperature.
// It remembers what worked. Structured output is checked here in any case.
//
// What a model thinks before it replies is no part of the reply, whether it stands between
// tags or in a field of its own. Thoughts count as tokens of the reply: a model that thinks may
// write as much as its longest reply allows, whatever a request says.
//
// Nothing that a server or the network says is passed on in errors and logs: it may
// quote prompts, replies and keys.
package openai
