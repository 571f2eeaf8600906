package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func reading(r io.Reader, length int64) *http.Response {
	return &http.Response{Body: io.NopCloser(r), ContentLength: length}
}

// An answer is read whole up to the limit and refused beyond it, told length or not, in
// a fresh buffer or one that had another answer.
func TestReadBody(t *testing.T) {
	const limit = 10_000
	c := &Client{maxReply: limit}
	var through []byte
	for _, size := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, limit - 1, limit, limit + 1, 3 * limit, 7} {
		for _, told := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d told=%v", size, told), func(t *testing.T) {
				text := bytes.Repeat([]byte("x"), size)
				length := int64(-1)
				if told {
					length = int64(size)
				}
				got, err := c.readBody(reading(bytes.NewReader(text), length), &through)
				if size > limit {
					if !errors.Is(err, errTooLarge) {
						t.Errorf("error = %v", err)
					}
					return
				}
				if err != nil || !bytes.Equal(got, text) {
					t.Errorf("%d bytes of %d, error %v", len(got), size, err)
				}
			})
		}
	}
}

func TestReadBodyBreaksOff(t *testing.T) {
	c := &Client{maxReply: 100}
	r := io.MultiReader(strings.NewReader(good[:5]), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := c.readBody(reading(r, -1), new([]byte)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, error %v", got, err)
	}
}

// What is allocated on the way to the limit stays near it: an endless answer, or an
// endless event, takes the buffers of the way there, which are the limit once more.
func TestEndlessAnswersTakeLittle(t *testing.T) {
	const limit = 8 << 20
	for name, read := range map[string]func(r io.Reader) error{
		"answer": func(r io.Reader) error {
			_, err := (&Client{maxReply: limit}).readBody(reading(r, -1), new([]byte))
			return err
		},
		"event": func(r io.Reader) error {
			_, err := events(t, io.MultiReader(strings.NewReader("data: "), r), limit)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read(endless{})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, errTooLarge) {
				t.Errorf("error = %v", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 2*limit+limit/4 {
				t.Errorf("%d bytes allocated for a limit of %d", took, limit)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
