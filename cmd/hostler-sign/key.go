package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater/release"
)

// keyFlags say where private keys are and what opens them.
type keyFlags struct {
	files      []string
	passphrase string
}

func (f *keyFlags) bind(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.files, "key", nil, "private key in PEM; more than once to sign by several")
	c.Flags().StringVar(&f.passphrase, "passphrase-file", "", "file whose first line is the passphrase of the keys")
}

// signers reads the private keys.
func (f *keyFlags) signers() ([]*release.Signer, error) {
	if len(f.files) == 0 {
		return nil, errors.New("name a private key with --key")
	}
	var signers []*release.Signer
	for _, path := range f.files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("checking the private key: %w", err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			return nil, fmt.Errorf("%s is readable by other users (mode %04o); run chmod 600 on it", path, info.Mode().Perm())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the private key: %w", err)
		}
		signer, err := release.ParseSigner(text, func() ([]byte, error) { return readPassphrase(f.passphrase) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		signers = append(signers, signer)
	}
	return signers, nil
}

func readPassphrase(path string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("the key needs a passphrase; name a file with --passphrase-file")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the passphrase: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if line = bytes.TrimRight(line, "\r"); len(line) == 0 {
		return nil, errors.New("the passphrase is empty")
	}
	return line, nil
}

func keyCommand() *cobra.Command {
	key := &cobra.Command{Use: "key", Short: "Keys that sign releases"}
	key.AddCommand(newKeyCommand(), showKeyCommand())
	return key
}

func newKeyCommand() *cobra.Command {
	var passphrase string
	c := &cobra.Command{
		Use:   "new FILE",
		Short: "Create a key: write the private half to FILE and the public half to FILE.pub",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var secret []byte
			if passphrase != "" {
				var err error
				if secret, err = readPassphrase(passphrase); err != nil {
					return err
				}
			}
			signer, err := release.NewSigner()
			if err != nil {
				return err
			}
			if err := writeKey(signer, args[0], secret); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", signer.Key.ID)
			return err
		},
	}
	c.Flags().StringVar(&passphrase, "passphrase-file", "", "encrypt the private half with the first line of this file")
	return c
}

// writeKey writes both halves, and overwrites nothing: a key that is gone cannot be made again.
func writeKey(signer *release.Signer, path string, passphrase []byte) error {
	private, err := signer.PEM(passphrase)
	if err != nil {
		return err
	}
	public, err := signer.Key.PEM()
	if err != nil {
		return err
	}
	if err := writeNew(path, private, 0o600); err != nil {
		return err
	}
	return writeNew(strings.TrimSuffix(path, ".key")+release.KeySuffix, public, 0o644)
}

func writeNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func showKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Print the ID of a public key",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("reading the key: %w", err)
			}
			key, err := release.ParseKey(text)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key.ID)
			return err
		},
	}
}
