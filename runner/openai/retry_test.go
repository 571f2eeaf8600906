package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	for _, tt := range []struct {
		attempt     int
		after, want time.Duration
	}{
		{0, 0, 1 * time.Second},
		{1, 0, 2 * time.Second},
		{4, 0, 16 * time.Second},
		{5, 0, 30 * time.Second},
		{1000, 0, 30 * time.Second},
		{0, 2 * time.Second, 2 * time.Second},
		{4, 2 * time.Second, 16 * time.Second}, // the server may lengthen it, not shorten
		{0, time.Hour, 60 * time.Second},
	} {
		if got := backoff(tt.attempt, tt.after); got != tt.want {
			t.Errorf("backoff(%d, %s) = %s, want %s", tt.attempt, tt.after, got, tt.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	const (
		date = "Tue, 01 Dec 2026 09:00:00 GMT" // the server's clock is an hour late
		soon = "Tue, 01 Dec 2026 09:00:07 GMT"
	)
	for _, tt := range []struct {
		name, value, date string
		want              time.Duration
	}{
		{"none", "", date, 0},
		{"seconds", "2", date, 2 * time.Second},
		{"blanks", " 2 ", date, 2 * time.Second},
		{"zero", "0", date, 0},
		{"negative", "-5", date, 0},
		{"signed", "+5", date, 0},
		{"fraction", "1.5", date, 0},
		{"words", "soon", date, 0},
		{"too long", "999999", date, 60 * time.Second},
		{"out of range", "99999999999999999999999", date, 60 * time.Second},
		{"date", soon, date, 7 * time.Second},
		{"date in the past", date, soon, 0},
		{"date without a Date", "Tue, 01 Dec 2026 10:00:07 GMT", "", 7 * time.Second},
		{"date far away", "Tue, 01 Dec 2099 09:00:00 GMT", date, 60 * time.Second},
		{"RFC 850 date", "Tuesday, 01-Dec-26 09:00:07 GMT", date, 7 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}
			if got := retryAfter(h, func() time.Time { return now }); got != tt.want {
				t.Errorf("retryAfter(%q) = %s, want %s", tt.value, got, tt.want)
			}
		})
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := Sleep(t.Context(), 30*time.Second); err != nil {
			t.Error(err)
		}
		if got := time.Since(start); got != 30*time.Second {
			t.Errorf("wait took %s, want 30s", got)
		}

		stop := errors.New("interrupt")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		start = time.Now()
		err := Sleep(ctx, time.Hour)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, stop) {
			t.Errorf("wait error = %v, want the context's and its cause", err)
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("wait took %s after the context's end at 1s", got)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "2", "-5", "soon", "999999", "0x10", "Tue, 01 Dec 2026 09:00:07 GMT", "٣"} {
		f.Add(s, "Tue, 01 Dec 2026 09:00:00 GMT")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		got := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}}, time.Now)
		if got < 0 || got > 60*time.Second {
			t.Errorf("retryAfter(%q) = %s, outside 0 to 60 s", value, got)
		}
		if strings.HasPrefix(value, "-") && got != 0 {
			t.Errorf("retryAfter(%q) = %s, want 0", value, got)
		}
	})
}
