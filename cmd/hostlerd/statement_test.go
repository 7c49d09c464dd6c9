package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gormStatement is a statement in SQL that goes to gorm: its Exec and Raw begin with the text, those of pgx with a context.
var gormStatement = regexp.MustCompile("\\.(?:Exec|Raw)\\(\\s*[\"`]")

// What is written in SQL goes to pgx, so that one kind of placeholder and of errors is read everywhere.
func TestStatementsInSQLGoToPgx(t *testing.T) {
	t.Parallel()
	read := 0
	err := filepath.WalkDir("../../core", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, at := range gormStatement.FindAllIndex(text, -1) {
			t.Errorf("%s:%d: a statement in SQL goes to gorm", path, 1+strings.Count(string(text[:at[0]]), "\n"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 200 {
		t.Errorf("only %d files were read", read)
	}
}
