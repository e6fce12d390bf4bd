package tree

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
)

// idPattern is what an id looks like. It goes into XML, HTML and commands as it is.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// ValidID tells whether a text may be the id of a node.
func ValidID(id string) bool { return idPattern.MatchString(id) && id != RootID }

// RootID is how the root of a page is named where a node is asked for. It is stored nowhere.
const RootID = "root"

// RandomID gives an id that no other node has.
func RandomID() string {
	const letters = "0123456789abcdefghijkmnpqrstuvwxyz"
	made := make([]byte, 9)
	if _, err := rand.Read(made); err != nil {
		panic(err) // documented never to happen
	}
	for i := range made {
		made[i] = letters[int(made[i])%len(letters)]
	}
	return "n" + string(made)
}

// AssignIDs gives an id to each node that has none, and a fresh one to each that repeats
// another's: a copy. Line breaks and tabs have none. The id of a node of an unknown kind is
// made of what it holds, for nothing may be written into it.
func AssignIDs(root *Node, fresh func() string) {
	known := make(map[string]bool)
	root.Walk(func(n, _ *Node) bool {
		switch {
		case n.Kind == Root, n.Kind == LineBreak, n.Kind == Tab:
			n.ID = ""
			return true
		case !n.IsKnown():
			n.ID = unknownID(n, known)
		case n.ID == "" || known[n.ID]:
			n.ID = fresh()
		}
		known[n.ID] = true
		return true
	})
}

func unknownID(n *Node, known map[string]bool) string {
	sum := sha256.Sum256(n.Raw)
	id := "u" + hex.EncodeToString(sum[:6])
	for copies := 2; known[id]; copies++ {
		id = "u" + hex.EncodeToString(sum[:6]) + "-" + strconv.Itoa(copies)
	}
	return id
}

// WithoutIDs copies a node without any ids.
func WithoutIDs(n *Node) *Node {
	copied := n.Clone()
	copied.Walk(func(at, _ *Node) bool {
		at.ID = ""
		return true
	})
	return copied
}
