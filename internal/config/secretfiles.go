package config

import "strings"

// SecretFile is a file that a secret was read from.
type SecretFile struct{ Key, Path string }

// SecretFiles are the files that secrets were read from: keys, tokens and addresses with
// passwords.
func (c Config) SecretFiles() []SecretFile {
	var found []SecretFile
	for _, s := range settings {
		if strings.HasSuffix(s.key, "_file") {
			if path := s.get(c)[0]; path != "" {
				found = append(found, SecretFile{s.key, path})
			}
		}
	}
	for _, m := range c.Models {
		if m.Key.File != "" {
			found = append(found, SecretFile{"key_file of model " + m.Name, m.Key.File})
		}
	}
	return found
}
