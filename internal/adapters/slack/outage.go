package slack

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

const (
	// outageAfter is how many calls in a row end with a server error before posts are held back.
	outageAfter = 3
	// outageProbe is how often one post is tried while Slack fails.
	outageProbe = 5 * time.Second
)

// outage holds posts back while Slack fails. A post that ends with a server error may have been
// made, so each costs a look at its thread; Slack allows fewer looks in a minute than posts.
type outage struct {
	mu       sync.Mutex
	failures int       // calls that failed since the last that did not
	next     time.Time // when a post may be tried again
}

// admitPost returns how long a post is to wait; 0 lets it through. While Slack fails it lets one
// through in each outageProbe.
func (o *outage) admitPost(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failures < outageAfter {
		return 0
	}
	if wait := o.next.Sub(now); wait > 0 {
		return wait
	}
	o.next = now.Add(outageProbe)
	return 0
}

// noteResult counts the result of a call. An error that is not Slack's answer, as of a call that was
// given up, says nothing.
func (o *outage) noteResult(err error, now time.Time) {
	status, failed := errors.AsType[slack.StatusCodeError](err)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case failed && status.Code >= http.StatusInternalServerError:
		if o.failures++; o.failures == outageAfter {
			o.next = now.Add(outageProbe)
		}
	case err == nil || refusalName(err) != "":
		o.failures = 0
	}
}
