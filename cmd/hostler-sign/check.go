package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater/release"
)

// checkCommand returns the command check. PLACE is a folder or the URL of a
// published release. It uses the same code as the updater, so a release that
// passes can be installed by everyone who trusts one of the keys in --trusted.
func checkCommand() *cobra.Command {
	var trusted string
	c := &cobra.Command{
		Use:   "check PLACE",
		Short: "Check a published release as an installation does: signature, sizes, checksums and contents",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := release.TrustedKeys(trusted)
			if err != nil {
				return err
			}
			place := args[0]
			if absolute, err := filepath.Abs(place); err == nil && isFolder(place) {
				place = absolute
			}
			source, err := release.NewSource(place, release.SourceOptions{})
			if err != nil {
				return err
			}
			return check(cmd, source, keys)
		},
	}
	c.Flags().StringVar(&trusted, "trusted", "", "folder with the public keys that an installation trusts")
	_ = c.MarkFlagRequired("trusted") // the flag is there
	return c
}

// isFolder reports whether a path is an existing folder. Everything else is
// read as a URL.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// check verifies the newest manifest of a source and then the tarball of every
// architecture, not only of this machine's.
func check(cmd *cobra.Command, source release.Source, keys []release.Key) error {
	m, _, key, err := release.Latest(cmd.Context(), source, keys)
	if err != nil {
		return err
	}
	for arch, file := range m.Files {
		if err := checkTarball(cmd, source, file); err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s of %s is valid, signed "+
		"by %s\n", m.Channel, m.Version, m.Date.Format("2006-01-02"), key.ID)
	return err
}

// checkTarball downloads a tarball, compares its size and checksum, and unpacks
// it in a temporary folder with the rules of an installation: a file outside of
// the tree or of an unexpected type is an error.
func checkTarball(cmd *cobra.Command, source release.Source, file release.File) error {
	dir, err := os.MkdirTemp("", "hostler-sign-")
	if err != nil {
		return fmt.Errorf("creating a folder to unpack in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "tarball")
	if err := release.Download(cmd.Context(), source, file, path, nil); err != nil {
		return err
	}
	tarball, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = tarball.Close() }()
	return release.Unpack(cmd.Context(), tarball, filepath.Join(dir, "tree"))
}
