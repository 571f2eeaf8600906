package faulttest

import (
	"net/http"
	"time"
)

// dribble sends an answer in pieces with pauses.
type dribble struct {
	http.ResponseWriter
	r     *http.Request
	pause time.Duration
}

// pieces is in how many an answer is sent.
const pieces = 4

func (d *dribble) Write(b []byte) (int, error) {
	n := 0
	size := max(1, len(b)/pieces)
	for len(b) > 0 {
		part := b[:min(size, len(b))]
		m, err := d.ResponseWriter.Write(part)
		n += m
		if err != nil {
			return n, err
		}
		_ = http.NewResponseController(d.ResponseWriter).Flush()
		b = b[len(part):]
		wait(d.r, d.pause)
	}
	return n, nil
}

// Unwrap is for http.ResponseController.
func (d *dribble) Unwrap() http.ResponseWriter { return d.ResponseWriter }
