// Package webhook reads what platforms deliver over HTTP. A delivery is bounded, and not
// older than its signature may be; the signature itself each adapter checks in its
// platform's way. Decode reads the JSON that platforms send: they add to it and change it
// without notice, so a value of an unexpected type counts as missing, and all beside it is read.
package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// MaxBody is the most bytes that a delivery has.
	MaxBody = 1 << 20
	// maxAge is how old a signature may be.
	maxAge = 5 * time.Minute
)

// Body reads the body of a delivery that verify accepts. After an error, a *RefusedError,
// status is what to refuse the delivery with.
func Body(w http.ResponseWriter, r *http.Request, verify func(header http.Header, body []byte) error) (body []byte, status int, err error) {
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, http.StatusRequestEntityTooLarge, newRefusal(TooLarge, err)
	}
	if err != nil {
		return nil, http.StatusBadRequest, newRefusal(Unreadable, err)
	}
	if err := verify(r.Header, body); err != nil {
		if _, ok := errors.AsType[*RefusedError](err); !ok {
			err = newRefusal(WrongSignature, err)
		}
		return nil, http.StatusUnauthorized, err
	}
	return body, http.StatusOK, nil
}

// Fresh checks that a signature's time, in seconds since 1970, is near to now: an older
// delivery may be one that somebody recorded.
func Fresh(stamp string, now time.Time) error {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return newRefusal(NoTimestamp, errors.New("no timestamp"))
	}
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); age > maxAge {
		return newRefusal(StaleTimestamp, fmt.Errorf("a timestamp %s away from now; check the clock of this machine", age.Round(time.Second)))
	}
	return nil
}
