package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// member is a file of an archive.
type member struct {
	name string
	path string // the file on disk
	mode fs.FileMode
}

// writeTarGz writes the members into a folder, in their order, without an owner. The
// gzip header has no file name and no time.
func writeTarGz(w io.Writer, folder string, members []member, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range members {
		text, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: folder + "/" + m.name, Mode: int64(m.mode), Size: int64(len(text)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// writeZip does the same as a zip file, for systems without tar.
func writeZip(w io.Writer, folder string, members []member, at time.Time) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		text, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: folder + "/" + m.name, Method: zip.Deflate, Modified: at}
		h.SetMode(m.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}

// checksums is the name of the file that sha256sum -c reads.
const checksums = "checksums.txt"

func writeChecksums(dir string, names []string) error {
	return toFile(filepath.Join(dir, checksums), func(w io.Writer) error {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(text), name); err != nil {
				return err
			}
		}
		return nil
	})
}

// toFile writes a file completely or not at all.
func toFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
