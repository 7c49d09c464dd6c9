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

// keyFlags are the flags that select private keys. All keys of one call have
// the same passphrase file; keys without encryption ignore it.
type keyFlags struct {
	files      []string
	passphrase string
}

// bind adds the flags to a command.
func (f *keyFlags) bind(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.files, "key", nil, "private key in PEM; more than once to sign by several")
	c.Flags().StringVar(&f.passphrase, "passphrase-file", "", "file whose first line is the passphrase of the keys")
}

// signers reads the private keys. It refuses a key file that other users can
// read, like ssh does: the file must have been protected from the beginning, so
// a warning would come too late.
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

// readPassphrase returns the first line of the passphrase file, without its
// line end. The passphrase is read from a file, because a command line is
// visible to other users and the build has no terminal.
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

// keyCommand groups the commands for keys.
func keyCommand() *cobra.Command {
	key := &cobra.Command{Use: "key", Short: "Keys that sign releases"}
	key.AddCommand(newKeyCommand(), showKeyCommand())
	return key
}

// newKeyCommand returns the command that creates a key pair and prints the ID
// of the key.
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

// writeKey writes the private key with mode 0600, and then the public key
// beside it. It overwrites nothing: a lost private key cannot be restored, and
// installations would refuse all later releases. For NAME.key the public key is
// NAME with the suffix of public keys.
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

// writeNew creates a file and syncs it to disk. It fails if the file exists,
// also when it appears at the same moment (O_EXCL).
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

// showKeyCommand returns the command that prints the ID of a public key, to
// compare it with the ID that an installation or a release names.
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
