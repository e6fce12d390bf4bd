package guard

import "regexp"

// orders are how text speaks to a model rather than to a reader.
var orders = regexp.MustCompile(`(?i)\b(?:` +
	`(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|rules?|prompts?|guidelines?|guardrails?)` +
	`|(?:system|developer|hidden|original|initial) (?:prompt|message|instructions?)` +
	`|you are (?:now|no longer)|from now on,? you|act as|pretend (?:to be|that you)|(?:as|to) an? (?:ai|assistant|language model|llm|chat ?bot)` +
	`|(?:ai|assistants?|language models?|llms?|bots?|models?)(?: reading this)?,? (?:must|should|have to|need to|please|are required)` +
	`|(?:tell|send|direct|refer|point) (?:the )?(?:users?|readers?|people|everyone|them) to\b` +
	`|(?:post|include|add|append|output|print|reply with|respond with|say|repeat|insert|share) (?:only )?(?:this|the following|exactly)` +
	`|(?:always|only|now) (?:answer|reply|respond) with|(?:answer|reply|respond) with (?:https?:|a (?:table|link))|your only (?:reply|answer)|(?:post|link to|visit|go to) (?:@|https?:|ftp:)` +
	`|(?:print|say|repeat|output) (?:exactly|that)\b|i authorize you|\[/?inst\]|<<sys>>|### (?:instruction|response)|^(?:assistant|user|human):` +
	`|new (?:rules?|instructions?|tasks?|orders?)[ \t]*:|(?:begin|start|end)(?: of)?(?: the)?(?: new)? (?:instructions?|rules?|prompt)` +
	`|(?:cite|reference) (?:this|it) as|(?:an? |the )?(?:ai|llm|assistant|language model)s? (?:that is |who is )?reading` +
	`)|</?[ \t]*(?:sources?|system|thread|turn|question|assistant)[ \t>]`)

// Instructs says whether a text seems to give orders to a model. What such a text holds
// is shown like any other, but its addresses are not.
func Instructs(text string) bool { return orders.MatchString(text) }
