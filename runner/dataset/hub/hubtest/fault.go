package hubtest

import (
	"net/http"
	"strings"
	"time"
)

// Fault is something that goes wrong with requests. Fields may be combined; of the
// faults that fit a request the first counts.
type Fault struct {
	Path  string // a part of the request's escaped path; empty: every request
	Store bool   // only contents, at the second server; else only the Hub's own answers
	Skip  int    // so many fitting requests go well first
	Times int    // so many requests go wrong; 0: all

	Status  int           // answer with this status; 0: as usual
	Code    string        // X-Error-Code of that answer
	Header  http.Header   // further headers of any answer
	Body    string        // of an answer with Status, or instead of the usual one
	Drop    bool          // end the connection without an answer
	Delay   time.Duration // before the answer
	Cut     int64         // end the connection after so many bytes of a content; 0: never
	Stall   int64         // send nothing more after so many bytes of a content, until the client goes; 0: never
	Corrupt bool          // a content with its first byte changed
	NoRange bool          // the whole content, whatever range is asked for
	Pieces  int           // a content in pieces of so many bytes, each flushed; 0: as it comes
}

// Fail adds a fault.
func (h *Hub) Fail(f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, &f)
}

// fault is what goes wrong with this request; the zero Fault is nothing.
func (h *Hub) fault(store bool, path string) Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, f := range h.faults {
		if f.Store != store || !strings.Contains(path, f.Path) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		found := *f
		if f.Times == 1 {
			h.faults = append(h.faults[:i:i], h.faults[i+1:]...)
		}
		f.Times--
		return found
	}
	return Fault{}
}

// answer does what a fault says of a whole answer, and says whether that was all.
func (f Fault) answer(w http.ResponseWriter, r *http.Request) bool {
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
		}
	}
	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	if f.Status == 0 && f.Body == "" {
		return false
	}
	refuse(w, max(f.Status, http.StatusOK), f.Code, f.Body)
	return true
}

func refuse(w http.ResponseWriter, status int, code, text string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
		w.Header().Set("X-Error-Message", text)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client may be gone
}
