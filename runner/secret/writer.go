package secret

import "io"

// Writer passes on what is written to it, secrets replaced by Mask, also one that
// is split over several writes. It holds back only what may be the beginning of a
// secret, which is less than the longest one, so that a log stays readable while it
// grows. Not for several goroutines at once.
type Writer struct {
	w    io.Writer
	r    *Redactor
	held string
	mask int // so many bytes at the start of held belong to a secret that is masked already
	out  []byte
}

// NewWriter writes to w. Close must be called at the end; it does not close w.
func NewWriter(w io.Writer, r *Redactor) *Writer {
	return &Writer{w: w, r: r}
}

// Write takes all of p, or the error is w's.
func (w *Writer) Write(p []byte) (int, error) {
	if w.r.Empty() {
		return w.w.Write(p)
	}
	if err := w.scan(string(p), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what is held back. That may be the beginning of a secret whose end
// never came, and most of a key is as good as the key: it is masked too.
func (w *Writer) Close() error {
	if len(w.held) >= MinLength {
		w.held, w.out = "", w.out[:0]
		if w.mask > 0 {
			return nil // behind the mask of the secret that it overlaps
		}
		_, err := io.WriteString(w.w, Mask)
		return err
	}
	return w.scan("", true)
}

func (w *Writer) scan(more string, last bool) error {
	w.out, w.held, w.mask = w.r.scan(w.out[:0], w.held+more, w.mask, last)
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.w.Write(w.out)
	return err
}
