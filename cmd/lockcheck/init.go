package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/examples"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first suite, and a lock that it tests",
		Long: `Writes lockcheck.yaml, a suite with comments, and worker.py, a lock in Python.
The suite tests this lock on docker, and a built-in lock in sim. If one of the
files exists, it writes nothing. A lock in Go needs go test only: see
docs/go-test.md.`,
		Example: `  lockcheck init && lockcheck suite`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("out") {
				return exit.Errorf(exit.Usage, "init writes to DIR: leave out --out")
			} else if len(args) > 1 {
				return exit.Errorf(exit.Usage, "init takes one DIR: leave out %s", strings.Join(args[1:], " "))
			}
			return a.init(strings.Join(args, ""))
		},
	}
}

// initDocument is what init prints with --json.
type initDocument struct {
	Schema int      `json:"schema"` // version of this document
	Files  []string `json:"files"`  // the files that were written
}

// init writes the files into a directory, and creates it if needed.
func (a *app) init(dir string) error {
	files, err := examples.Begin()
	if err != nil {
		return err
	}
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Name)); err == nil {
			there = append(there, filepath.Join(dir, f.Name))
		}
	}
	if len(there) > 0 {
		return exit.Errorf(exit.Usage, "nothing was written, because there is %s already: move it away, or name another directory: lockcheck init DIR", strings.Join(there, " and "))
	}
	if err := os.MkdirAll(cmp.Or(dir, "."), 0o777); err != nil {
		return exit.Errorf(exit.Usage, "nothing was written: %w", err)
	}
	doc := initDocument{Schema: 1}
	width := 0
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := writeNew(path, f.Text, f.Mode); err != nil {
			for _, written := range doc.Files {
				os.Remove(written)
			}
			return exit.Errorf(exit.Usage, "nothing was written: %w", err)
		}
		doc.Files = append(doc.Files, path)
		width = max(width, len(path))
	}
	if a.JSON {
		return a.PrintJSON(doc)
	}
	for i, f := range files {
		a.Row(width, doc.Files[i], f.Is)
	}
	next := terminal.Program() + " suite"
	if dir != "" {
		next = "cd " + terminal.Quoted(dir) + " && " + terminal.ProgramFrom(dir) + " suite"
	}
	a.Printf("\nNext: %s\n", next)
	a.Paragraph(6, "      It takes half a minute, and needs python3 and Docker for worker.py; the other lock runs in sim, which needs nothing.")
	return nil
}

// writeNew writes a new file completely or not at all. An existing file is an error.
func writeNew(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}
