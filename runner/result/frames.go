package result

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

var (
	errTorn    = errors.New("the last frame is cut off")
	errNoFrame = errors.New("not a zstd frame")
)

// maxWindow bounds what a decoder allocates for a frame; ours have 8 MB.
const maxWindow = 64 << 20

// frameEnds is where each whole zstd frame of a file ends. It reads headers only: of
// the frame, then of each of its blocks (RFC 8878, section 3.1.1). Beside the frames
// before it, a frame that is not whole gives errTorn, and bytes that begin none
// errNoFrame.
func frameEnds(r io.ReaderAt, size int64) ([]int64, error) {
	var ends []int64
	for at := int64(0); at < size; {
		end, err := frameEnd(r, at, size)
		if err != nil {
			return ends, err
		}
		ends = append(ends, end)
		at = end
	}
	return ends, nil
}

func frameEnd(r io.ReaderAt, at, size int64) (int64, error) {
	head := make([]byte, min(zstd.HeaderMaxSize, size-at))
	if _, err := r.ReadAt(head, at); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	var h zstd.Header
	switch err := h.Decode(head); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, fmt.Errorf("%w at byte %d", errTorn, at)
	case err != nil:
		return 0, fmt.Errorf("%w at byte %d: %w", errNoFrame, at, err)
	}
	at += int64(h.HeaderSize)
	if h.Skippable {
		return whole(at+int64(h.SkippableSize), size)
	}
	for last := false; !last; {
		var b [4]byte // three, read as one number of four
		if at+3 > size {
			return 0, fmt.Errorf("%w: it ends in a block's header", errTorn)
		}
		if _, err := r.ReadAt(b[:3], at); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		v := binary.LittleEndian.Uint32(b[:])
		last = v&1 == 1
		length := int64(v >> 3)
		if v>>1&3 == 1 {
			length = 1 // one byte that is repeated
		}
		at += 3 + length
	}
	if h.HasCheckSum {
		at += 4
	}
	return whole(at, size)
}

func whole(end, size int64) (int64, error) {
	if end > size {
		return 0, fmt.Errorf("%w: %d bytes are missing", errTorn, end-size)
	}
	return end, nil
}
