package openai

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// longAnswer is an answer of the usual size: some 250 tokens of text.
var longAnswer = strings.Replace(good, "ok", strings.Repeat("some words of an answer, ", 40), 1)

// longStream is a stream of 64 tokens, one an event.
var longStream = roleChunk + strings.Repeat(textChunk, 64) + endChunk + usageChunk + doneLine

func benchmarkChat(b *testing.B, body string, h http.HandlerFunc) {
	s := httptest.NewServer(h)
	b.Cleanup(s.Close)
	c, err := New(Options{URL: s.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	b.ReportAllocs()
	for b.Loop() {
		if got := c.Chat(b.Context(), []byte(body)); got.Err != nil {
			b.Fatal(got.Err)
		}
	}
}

// The allocations are the client's and the server's, which share the process.
func BenchmarkChat(b *testing.B) {
	benchmarkChat(b, request, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", fmt.Sprint(len(longAnswer)))
		_, _ = io.WriteString(w, longAnswer)
	})
}

func BenchmarkChatChunked(b *testing.B) {
	benchmarkChat(b, request, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, longAnswer[:10])
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, longAnswer[10:])
	})
}

func BenchmarkChatStream(b *testing.B) {
	benchmarkChat(b, streamRequest, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		stream(longStream)(w, r)
	})
	b.ReportMetric(68*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkReadStream is reading alone, without a connection.
func BenchmarkReadStream(b *testing.B) {
	c, err := New(Options{URL: "http://h"})
	if err != nil {
		b.Fatal(err)
	}
	raw := []byte(longStream)
	text := bytes.NewReader(raw)
	resp := &http.Response{Body: io.NopCloser(text), Header: http.Header{"Content-Type": {"text/event-stream"}}}
	b.ReportAllocs()
	for b.Loop() {
		text.Reset(raw)
		s := c.scratch()
		if _, err := c.readStream(resp, s, time.Time{}); err != nil {
			b.Fatal(err)
		}
		c.putBack(s)
	}
	b.ReportMetric(68*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkDecode(b *testing.B) {
	s := new(scratch)
	b.ReportAllocs()
	for b.Loop() {
		if err := decode([]byte(longAnswer), "", oneLine, s, new(Completion)); err != nil {
			b.Fatal(err)
		}
	}
}
