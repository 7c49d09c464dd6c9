package command

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/output"
)

const (
	// freshNames is how long names are offered from the cache without a
	// request. A shell asks again with each press of the tab key.
	freshNames = 20 * time.Second
	// namesLimit is the maximum time for a completion. A slow service must not
	// block the shell; the user gets no suggestions then.
	namesLimit = 3 * time.Second
	// maxNames is the maximum number of names that are offered at once.
	maxNames = 2000
)

// completeArguments returns the completion of a verb: the names of objects of
// the kind that the next argument expects. It never offers files.
func (s *session) completeArguments(args arguments) cobra.CompletionFunc {
	return func(c *cobra.Command, words []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 || len(words) >= len(args) && !args[len(args)-1].several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.names(c.Context(), args[min(len(words), len(args)-1)].kind, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// names returns the names of a kind that begin with a word. Errors are only
// visible with the debug log of cobra (BASH_COMP_DEBUG_FILE): a completion has
// no place to print them.
func (s *session) names(ctx context.Context, of, word string) []string {
	k, ok := kinds[of]
	if !ok || k.op == "" {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, namesLimit)
	defer cancel()
	all, err := s.allNames(ctx, of, k)
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
		return nil
	}
	var found []string
	for _, name := range all {
		if strings.HasPrefix(name, word) && len(found) < maxNames {
			found = append(found, name)
		}
	}
	return found
}

// allNames returns all names of a kind that the user can see, sorted. They are
// cached in the user's cache folder for freshNames; the name of the file is a
// hash of the context, the URL and the kind, so that services do not mix. Names
// with characters that a shell interprets are left out: completion scripts
// insert words without quotes, and a guest could be named "$(reboot)".
func (s *session) allNames(ctx context.Context, of string, k kind) ([]string, error) {
	client, err := s.connection()
	if err != nil {
		return nil, err
	}
	file := ""
	if dir, err := os.UserCacheDir(); err == nil {
		sum := sha256.Sum256([]byte(s.known + "\x00" + client.URL().String() + "\x00" + of))
		file = filepath.Join(dir, "hostler", fmt.Sprintf("names-%x.json", sum[:12]))
	}
	var kept []string
	if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) < freshNames {
		if text, err := readFile(file); err == nil && json.Unmarshal(text, &kept) == nil {
			return kept, nil
		}
	}
	rows, err := s.things(ctx, k, "")
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, row := range rows {
		name, _ := output.At(row, k.names[0]).(string)
		if name != "" && name == output.CleanLine(name) && !strings.ContainsAny(name, " \t\\'\"`$;&|<>(){}*?[]#!~") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	keepNames(file, names)
	return names, nil
}

// keepNames writes the cache of names. It writes a temporary file and renames
// it, so that a shell that completes at the same time never reads a partial
// file. Errors are ignored: without a cache the next completion asks the
// service.
func keepNames(file string, names []string) {
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".names-*")
	if err != nil {
		return
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	err = json.NewEncoder(temp).Encode(names)
	if temp.Close() == nil && err == nil {
		_ = os.Rename(temp.Name(), file)
	}
}
