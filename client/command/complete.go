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
	// freshNames is how long names that were offered are offered again without asking.
	freshNames = 20 * time.Second
	// namesLimit is how long a shell waits for them.
	namesLimit = 3 * time.Second
	// maxNames bounds what is offered at once.
	maxNames = 2000
)

// completeArguments offers what a command's next argument can be.
func (s *session) completeArguments(args arguments) cobra.CompletionFunc {
	return func(c *cobra.Command, words []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 || len(words) >= len(args) && !args[len(args)-1].several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.names(c.Context(), args[min(len(words), len(args)-1)].kind, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// names are those of all things of a kind that begin with a word, asked for
// anew or as they were a moment ago. Those that a shell could take for
// something else are not offered.
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

// allNames gives the names that a shell offers for a word of a kind. The answer
// is kept in a file of the user's cache for freshNames, because a shell asks
// again with each press of the tab key.
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

// keepNames writes the file of names, which is only a help: when that fails the
// next one asks again.
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
