package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/core/identity"
)

// ownerCommand returns the command that creates owners on the machine of the
// service, for example when all owners lost their passwords. It needs no
// authentication: whoever can read the state folder can read the database
// anyway.
func ownerCommand(cfg *Config) *cobra.Command {
	owner := &cobra.Command{Use: "owner", Short: "Owners of the instance"}
	var email, name string
	var fromStdin bool
	create := &cobra.Command{
		Use:   "create",
		Short: "Create an owner; also works while the service runs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !fromStdin {
				return errors.New("pass the password on standard input with --password-stdin: every user of the machine can see arguments")
			}
			password, err := readPassword(cmd.InOrStdin())
			if err != nil {
				return err
			}
			return createOwner(cmd.Context(), *cfg, cmd.OutOrStdout(), email, password, name)
		},
	}
	create.Flags().StringVar(&email, "email", "", "the owner's email address")
	create.Flags().StringVar(&name, "display-name", "", "the owner's name")
	create.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	_ = create.MarkFlagRequired("email") // fails only for a flag that is not there
	owner.AddCommand(create)
	return owner
}

// readPassword returns the first line of standard input without its line end,
// at most 4096 bytes. So both printf and echo work.
func readPassword(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("standard input contains no password")
	}
	return line, nil
}

// createOwner creates an owner with the same rules for passwords as the API,
// and prints the email address as it was stored.
func createOwner(ctx context.Context, cfg Config, out io.Writer, email, password, name string) error {
	log := newLogger(cfg)
	d, err := joinDatabase(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer d.close()
	var display *string
	if name != "" {
		display = &name
	}
	user, err := identity.New(d.DB, identity.Config{}).CreateOwner(ctx, email, password, display)
	if err != nil {
		return explain(err)
	}
	_, err = fmt.Fprintf(out, "%s is now an owner.\n", user.Email)
	return err
}
