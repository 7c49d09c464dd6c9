package command

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/client/contexts"
	"github.com/hostler/hostler/client/transport"
)

// whoamiCommand makes the command that shows the user, the roles and the kind
// of key. It is the test that a context works.
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

// contextCommand makes the commands over the file of contexts. None of them
// asks a service.
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

// changeContexts reads the file, changes it and writes it back as one. Two
// commands at a time may overwrite each other's change; the file is one user's
// and small.
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

// listContexts shows everything but the keys.
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

// completeContexts offers the names of contexts.
func (s *session) completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	file, err := openContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return file.Names(), cobra.ShellCompDirectiveNoFileComp
}
