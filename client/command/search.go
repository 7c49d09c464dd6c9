package command

import (
	"errors"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
)

// searchCommand is no noun: what it finds is of many kinds.
func (s *session) searchCommand() *cobra.Command {
	op := api.Find("search")
	limit := 0
	c := &cobra.Command{
		Use: "search WORD...", Short: op.Summary,
		Long: op.Summary + ".\n\nIt is " + op.Method + " " + op.Path + " (" + op.ID + "), and needs the role " + op.Role +
			". Words are looked for in names, numbers, addresses and tags; a field narrows it: is:vm, status:running, tag:prod, host:lab, " +
			"node:pve1. What begins with a dash goes after --: a field with a dash before it leaves out.",
		Example: "  hostler search web tag:prod\n  hostler search -- 10.0.0.5 -is:job",
		RunE: func(cmd *cobra.Command, words []string) error {
			text := strings.TrimSpace(strings.Join(words, " "))
			if text == "" {
				return usage(cmd, errors.New("it takes words to look for"))
			}
			t := target{op: op, path: op.Path, query: url.Values{"q": {text}}}
			return s.show(cmd.Context(), t, "kind id name status host node vmid addresses detail", limit)
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "at most so many entries; 0 for all")
	return c
}
