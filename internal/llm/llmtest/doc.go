// Package llmtest is a scripted server that speaks the OpenAI wire format on loopback,
// and the suite that every llm.Model passes.
//
// The server plays Steps: what it says to a request, token by token, or how it fails.
// Steps are played in the order of the requests (Server.Play), or to the requests that
// match (Server.On), so that a flow in which several roles ask at once can be scripted.
// Embeddings need no script: equal words make texts alike.
//
// It is as strict as the service it stands for: a request that one would refuse is
// answered with the same error, and is a fault, which fails the test. What was sent is
// kept in Server.Requests.
package llmtest
