package command

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/transport"
)

// whoamiCommand returns the command that shows the user, the roles and the kind
// of API key. It is the simplest check that a context works.
func (s *session) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show the logged-in user and their roles", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := s.connection()
			if err != nil {
				return err
			}
			answer, err := client.Call(cmd.Context(), transport.Request{Method: http.MethodGet, Path: "/api/v1/auth/me", Repeatable: true})
			if err != nil {
				return err
			}
			return s.answer(cmd.Context(), answer.Body, s.screen.Fields)
		},
	}
}

// contextCommand returns the commands that edit the file of contexts. They work
// offline. In particular, remove does not revoke the API key; logout does.
func (s *session) contextCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "context", Short: "Services that you are logged in to"})
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List contexts", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return s.listContexts(cmd.Context()) },
		},
		&cobra.Command{
			Use: "use CONTEXT", Short: "Set the current context", Args: cobra.ExactArgs(1), ValidArgsFunction: s.completeContexts,
			RunE: func(_ *cobra.Command, args []string) error {
				return changeContexts(func(f *contexts.File) error {
					name, _, err := f.Get(args[0])
					f.Current = name
					return err
				})
			},
		},
		&cobra.Command{
			Use: "remove CONTEXT", Short: "Remove a context; its API key stays valid", Args: cobra.ExactArgs(1),
			ValidArgsFunction: s.completeContexts,
			RunE: func(_ *cobra.Command, args []string) error {
				return changeContexts(func(f *contexts.File) error {
					if _, _, err := f.Get(args[0]); err != nil {
						return err
					}
					return f.Remove(args[0])
				})
			},
		},
	)
	return c
}

// changeContexts reads the file of contexts, changes it and writes it back.
// It takes no lock: of two commands that do this at the same time, one may
// overwrite the other's change. That is acceptable for a small file of one user.
func changeContexts(change func(*contexts.File) error) error {
	file, err := openContexts()
	if err != nil {
		return err
	}
	if err := change(file); err != nil {
		return err
	}
	return file.Save()
}

// listContexts prints the contexts without their keys. The column key says
// where the key is stored (file or keyring), and pinned shows the fingerprint
// or the file of certificate authorities that replaces the system's trust.
func (s *session) listContexts(ctx context.Context) error {
	file, err := openContexts()
	if err != nil {
		return err
	}
	rows := []map[string]any{}
	for _, name := range file.Names() {
		c := file.Contexts[name]
		trust := c.Fingerprint
		if trust == "" {
			trust = c.Authorities
		}
		kept := "file"
		if c.Keyring {
			kept = "keyring"
		}
		rows = append(rows, map[string]any{
			"name": name, "url": c.URL, "user": c.User, "current": name == file.Current, "key": kept, "pinned": trust,
		})
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	return s.answer(ctx, text, func(value any) { s.list("current name url user key pinned", value) })
}

// completeContexts completes the names of contexts, and nothing after the first
// argument.
func (s *session) completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	file, err := openContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return file.Names(), cobra.ShellCompDirectiveNoFileComp
}
