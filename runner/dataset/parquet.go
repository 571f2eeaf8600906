package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const parquetEnding = ".parquet"

// parquetFormat is Apache Parquet. Only the columns that are asked for are
// decoded, one row group after the other.
//
// Rows are read without a Go type: a struct that does not fit the file's nesting
// gives empty lists instead of an error.
func parquetFormat() Format {
	return Format{
		Name:       "parquet",
		Extensions: []string{parquetEnding},
		read:       readParquet,
		count:      countParquet,
		index:      indexParquet,
	}
}

func readParquet(ctx context.Context, f file, columns []string, from int) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		p, err := openParquet(ctx, f, columns)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer p.close()
		before := 0
		for i, group := range p.data.RowGroups() {
			n := int(group.NumRows())
			if from < before+n { // else it is before the slice, or empty: nothing to open
				if err := p.checkCodecs(i); err != nil {
					yield(row{}, err)
					return
				}
				if !p.readGroup(ctx, group, before, max(from-before, 0), yield) {
					return
				}
			}
			before += n
		}
	}
}

func countParquet(ctx context.Context, f file) (int, error) {
	p, err := openParquet(ctx, f, nil)
	if err != nil {
		return 0, err
	}
	defer p.close()
	return p.count(), nil
}

// parquetFile is an open file and the columns to read of it.
type parquetFile struct {
	path   string
	bytes  *content
	data   *parquet.File
	names  []string        // all its columns
	schema *parquet.Schema // of the columns to read; nil: it has none of them
}

// openParquet reads the footer of a file, wherever it is.
func openParquet(ctx context.Context, f file, columns []string) (*parquetFile, error) {
	bytes, err := f.bytes(ctx)
	if err != nil {
		return nil, err
	}
	return openParquetContent(bytes, f.path, columns)
}

// openParquetContent reads the footer. The content is closed with the file, and at
// once when there is an error.
func openParquetContent(bytes *content, path string, columns []string) (*parquetFile, error) {
	p := &parquetFile{path: path, bytes: bytes}
	err := guard(func() (err error) {
		if err := checkFooter(bytes, bytes.size); err != nil {
			return err
		}
		p.data, err = parquet.OpenFile(bytes, bytes.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		p.close()
		return nil, fmt.Errorf("reading prompts: %s is no whole parquet file, it may be cut: %w", path, err)
	}
	wanted := parquet.Group{}
	for _, field := range p.data.Schema().Fields() {
		p.names = append(p.names, field.Name())
		if slices.Contains(columns, field.Name()) {
			wanted[field.Name()] = field
		}
	}
	if len(wanted) > 0 {
		p.schema = parquet.NewSchema("row", wanted)
	}
	return p, nil
}

func (p *parquetFile) count() int { return int(p.data.NumRows()) }

func (p *parquetFile) close() { _ = p.bytes.close() } // only read from

// checkFooter compares the length that the file's last bytes give its footer with
// the file's own, before anybody allocates that much. (Parquet's file format: the
// footer's length in 4 bytes, little-endian, and then PAR1.)
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < int64(len(tail)) {
		return errors.New("it is shorter than a footer")
	}
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return err
	}
	if length := int64(binary.LittleEndian.Uint32(tail[:4])); length > size-int64(len(tail)) {
		return fmt.Errorf("its footer of %d bytes is longer than the file", length)
	}
	return nil
}

// checkCodecs refuses a compression that the library does not read or reads
// wrongly: LZO, both kinds of LZ4, and what the format may add.
func (p *parquetFile) checkCodecs(group int) error {
	if p.schema == nil {
		return nil
	}
	for _, column := range p.data.Metadata().RowGroups[group].Columns {
		meta := column.MetaData
		if len(meta.PathInSchema) == 0 || !p.reads(meta.PathInSchema[0]) {
			continue
		}
		switch meta.Codec {
		case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
		default:
			return fmt.Errorf("reading prompts: %s: column %q is compressed with %s, which is not supported: write the file anew with zstd or snappy",
				p.path, meta.PathInSchema[0], meta.Codec)
		}
	}
	return nil
}

func (p *parquetFile) reads(column string) bool {
	return slices.ContainsFunc(p.schema.Fields(), func(f parquet.Field) bool { return f.Name() == column })
}
