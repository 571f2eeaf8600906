package openai

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxBackoff    = 30 * time.Second
	maxRetryAfter = 60 * time.Second
)

// backoff is how long to wait after attempt 0, 1, 2 …: min(2^attempt, 30) s, or
// what the server asks for where that is longer, up to 60 s.
func backoff(attempt int, after time.Duration) time.Duration {
	own := maxBackoff
	if attempt < 5 {
		own = time.Second << attempt
	}
	return max(own, min(after, maxRetryAfter))
}

// retryAfter reads Retry-After (RFC 9110, section 10.2.3): seconds, or a date,
// which is taken from the answer's own Date, since the two clocks may differ. It
// is zero for none, for what is neither, and for what lies in the past, and never
// more than 60 s.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseUint(value, 10, 64)
		if err != nil || seconds > uint64(maxRetryAfter/time.Second) { // out of range is more, too
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	return min(max(0, at.Sub(from)), maxRetryAfter)
}

// Sleep lets d pass, or returns why ctx ended first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return Ended(ctx)
	}
}
