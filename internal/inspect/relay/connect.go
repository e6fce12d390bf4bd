package relay

import (
	_ "embed"
	"fmt"
	"io"
	"text/template"
)

// appCode is the code that connects an app.
//
//go:embed connect.js.tmpl
var appCode string

var appTemplate = template.Must(template.New("connect.js").Parse(appCode))

// WriteAppCode writes the code that has an app join a channel of the relay at an address.
func WriteAppCode(to io.Writer, address, channel string) error {
	if _, err := parseAllowList([]string{address}); err != nil {
		return err
	}
	if !channelID.MatchString(channel) {
		return fmt.Errorf("%q is no id of a channel", channel)
	}
	return appTemplate.Execute(to, struct{ Address, Channel, Path string }{template.JSEscapeString(address), channel, Path})
}
