package fleet

import "strings"

// routeOf returns the limits that a request is under. Discord's limits are by method, path
// without its ids, and the ids of channel, server and webhook.
func routeOf(method, path string) Request {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) > 0 && parts[0] == "api" {
		parts = parts[1:]
	}
	if len(parts) > 0 && len(parts[0]) > 1 && parts[0][0] == 'v' && isDigits(parts[0][1:]) {
		parts = parts[1:]
	}
	request := Request{Exempt: isInteraction(parts)}
	var major []string
	for i, part := range parts {
		switch {
		case i == 1 && (parts[0] == "channels" || parts[0] == "guilds" || parts[0] == "webhooks"):
			major = append(major, part)
			parts[i] = ":major"
		case i == 2 && parts[0] == "webhooks" || i <= 2 && i > 0 && parts[0] == "interactions":
			major = append(major, part)
			parts[i] = ":token"
		case i > 0 && parts[i-1] == "reactions":
			parts[i] = ":emoji"
		case isDigits(part):
			parts[i] = ":id"
		}
	}
	request.Route = method + " /" + strings.Join(parts, "/")
	request.Major = strings.Join(major, "/")
	return request
}

// isInteraction reports whether a request answers an interaction or follows one up: its path
// has a token of its own, and it does not count toward the limit on all.
func isInteraction(parts []string) bool {
	if len(parts) < 3 {
		return false
	}
	return parts[0] == "interactions" || parts[0] == "webhooks"
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
