package main

import (
	"slices"

	"github.com/alecthomas/kong"
)

// orderArguments puts a command's name first, then its flags, then its arguments: kong ends a
// list of arguments at the first flag, and people write flags anywhere.
func orderArguments(root *kong.Node, typed []string) []string {
	node, named := root, []string(nil)
	var flags, arguments []string
	for i := 0; i < len(typed); i++ {
		word := typed[i]
		if word == "--" {
			arguments = append(arguments, typed[i+1:]...)
			break
		}
		if len(word) > 1 && word[0] == '-' {
			flags = append(flags, word)
			if takesNext(node, word) && i+1 < len(typed) && typed[i+1] != "--" {
				i++
				flags = append(flags, typed[i])
			}
			continue
		}
		child := childNamed(node, word)
		if child == nil || len(arguments) > 0 {
			arguments = append(arguments, word)
			continue
		}
		node, named = child, append(named, word)
	}
	if len(arguments) > 0 {
		arguments = append([]string{"--"}, arguments...)
	}
	return slices.Concat(named, flags, arguments)
}

// childNamed gives the command of that name below a node, or nil.
func childNamed(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// takesNext tells whether the word behind a flag is its value.
func takesNext(node *kong.Node, word string) bool {
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
				return !flag.IsBool()
			}
		}
	}
	return false
}
