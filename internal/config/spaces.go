package config

// Spaces are the servers or workspaces that are answered, by their ids, each with the names of the
// collections that may be asked there; none: all.
type Spaces map[string][]string
