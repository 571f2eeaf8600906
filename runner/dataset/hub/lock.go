package hub

import (
	"context"
	"os"
	"time"
)

const lockPoll = 200 * time.Millisecond

// lock holds the lock file until the function that it gives is called; the system
// lets go of it when the process ends, however it ends. It waits while another
// process, or another call in this one, holds it. The file stays: removing it would
// race with who has just opened it.
func (c *Client) lock(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		held, err := tryLock(file)
		if err != nil {
			_ = file.Close()
			return nil, err
		}
		if held {
			return func() { _ = file.Close() }, nil // closing lets go of it
		}
		if !told {
			c.log.Info("waiting for another process that fetches the same file", "lock", name)
		}
		if err := c.o.Wait(ctx, lockPoll); err != nil {
			_ = file.Close()
			return nil, err
		}
	}
}
