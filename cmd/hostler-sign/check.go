package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater/release"
)

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

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

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

// checkTarball downloads and unpacks it as an installation would.
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
