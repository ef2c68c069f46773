package formats

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"github.com/lockcheck/lockcheck/history"
)

// unzip makes errors of a gzip stream readable.
type unzip struct{ r io.Reader }

func (u unzip) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = damageError(err)
	}
	return n, err
}

// damage is an error in a compressed file.
type damage string

func (d damage) Error() string { return string(d) }

func damageError(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return damage("the gzip stream is cut off")
	case corrupt, errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return damage("the gzip stream is damaged")
	default:
		return err
	}
}

// place adds a line to an error of the file, unless it has one.
func place(err error, name string, line int) error {
	if d, ok := errors.AsType[damage](err); ok {
		if s, ok := errors.AsType[*history.SyntaxError](err); ok {
			line = s.Line
		}
		return &history.SyntaxError{Name: name, Line: line, Err: d}
	}
	return err
}

// withoutPlace returns err without file and line.
func withoutPlace(err error) error {
	if s, ok := errors.AsType[*history.SyntaxError](err); ok {
		return s.Err
	}
	return err
}
