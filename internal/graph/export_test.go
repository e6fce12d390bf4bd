package graph

import "errors"

// Recode reads a checkpoint and writes it anew, as the next save would.
func Recode[S any](c *Compiled[S], run string, checkpoint []byte) ([]byte, error) {
	x, err := newSession(run, Options{Store: struct{ Store }{}})
	if err != nil {
		return nil, err
	}
	if _, err := c.restore(x, checkpoint); err != nil {
		return nil, err
	}
	if _, err := x.encodeCheckpoint(); err != nil {
		return nil, errors.Join(errors.New("the decoded checkpoint cannot be encoded"), err)
	}
	return x.buffer, nil
}
