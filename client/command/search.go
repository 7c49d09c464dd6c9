package command

import (
	"errors"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/api"
)

// searchCommand returns the command search. It is not a verb of a noun, because
// one result lists objects of several kinds. The words are joined to one query,
// so they need no quotes; the service parses the fields in it, such as is:vm.
func (s *session) searchCommand() *cobra.Command {
	op := api.Find("search")
	limit := 0
	c := &cobra.Command{
		Use: "search WORD...", Short: op.Summary,
		Long: op.Summary + ".\n\nAPI: " + op.Method + " " + op.Path + " (" + op.ID + "). Requires the role " + op.Role +
			".\n\nWords match names, IDs, addresses and tags. Fields narrow the search: is:vm, status:running, tag:prod, host:lab, " +
			"node:pve1. A dash before a field negates it; write -- before words that start with a dash.",
		Example: "  hostler search web tag:prod\n  hostler search -- 10.0.0.5 -is:job",
		RunE: func(cmd *cobra.Command, words []string) error {
			text := strings.TrimSpace(strings.Join(words, " "))
			if text == "" {
				return usage(cmd, errors.New("wrong arguments: expected words to search for"))
			}
			t := target{op: op, path: op.Path, query: url.Values{"q": {text}}}
			return s.show(cmd.Context(), t, "kind id name status host node vmid addresses detail", limit)
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "maximum number of entries; 0 for all")
	return c
}
