package config

// Flows is what people in chats may have read beside the index.
type Flows struct {
	// Folders are absolute: with all that is below them.
	Folders []string `key:"folders" form:"folder"`
	// Repositories are what addresses of repositories may begin with: "github.com/acme".
	Repositories []string `key:"repositories" form:"repository"`
}
