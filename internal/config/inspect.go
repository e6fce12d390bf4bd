package config

// Inspect is what questions about the screens of an app are answered from.
type Inspect struct {
	// Project is opened where a question and its thread name none: a folder or an https address.
	Project string `key:"project" form:"name" optional:"true"`
	// Session is a file that was recorded of the app; "" for none.
	Session string `key:"session" form:"path" optional:"true"` // absolute
}
