package runs

import (
	"context"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// DeliveryKey names one visible message of the bot, before it is posted. It goes with
// the message to the platform, which can be asked for it after a crash.
type DeliveryKey string

// Delivery is a message that is to be seen in a thread exactly once.
type Delivery struct {
	Key  DeliveryKey
	Run  chat.RunID
	Body []byte // of the writer's own form: all that is needed to post it
	// Recorded is set by the store.
	Recorded time.Time
	// Posted is the platform's id of the message once that is known, else "".
	Posted chat.MessageID
}

// Outbox remembers what is posted. A delivery is recorded before it is posted and confirmed
// afterwards (store.Commit). Whoever claims the thread after a crash finds with Recorded what
// was not confirmed, asks the platform for its key, and posts what is not there. Both need
// the lease: ErrLost.
type Outbox interface {
	// Recorded gives the deliveries of the lease's lane in the order they were
	// recorded: all that are not confirmed, and those confirmed since the last Finish.
	Recorded(ctx context.Context, lease Lease) ([]Delivery, error)
	// Drop forgets a delivery that will never be posted: its channel is gone. To drop
	// what is not there is no error.
	Drop(ctx context.Context, lease Lease, key DeliveryKey) error
}
