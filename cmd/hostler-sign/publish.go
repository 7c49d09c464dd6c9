package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater/release"
)

// publishCommand returns the command that writes and signs the manifest. The
// manifest lists one tarball per architecture and can change which keys
// installations trust: --add-key announces a key and --withdraw-key removes
// one. To replace a key, publish one release that adds the new key and is
// signed with the old one, and withdraw the old key later.
func publishCommand() *cobra.Command {
	var keys keyFlags
	var date string
	var files, add []string
	m := release.Manifest{Schema: release.Schema}
	c := &cobra.Command{
		Use:   "publish FOLDER",
		Short: "Write and sign the manifest of the tarballs in FOLDER",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if m.Date, err = parseDate(date); err != nil {
				return err
			}
			if m.Files, err = describeFiles(args[0], files); err != nil {
				return err
			}
			if m.Keys, err = readKeys(add); err != nil {
				return err
			}
			signers, err := keys.signers()
			if err != nil {
				return err
			}
			if err := release.Publish(args[0], &m, signers...); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s, signed by %d\n", m.Channel, m.Version, len(signers))
			return err
		},
	}
	f := c.Flags()
	keys.bind(c)
	f.StringVar(&m.Version, "version", "", "semantic version without v")
	f.StringVar(&m.Channel, "channel", "stable", "stream of releases")
	f.StringVar(&m.Minimum, "minimum", "", "oldest version that this one can be installed over")
	f.StringVar(&m.NotesURL, "notes-url", "", "https address of the release notes")
	f.StringVar(&date, "date", "", "date in RFC 3339; by default SOURCE_DATE_EPOCH, or now")
	f.Int64Var(&m.Migrations.From, "migrations-from", 0, "oldest schema that it can migrate")
	f.Int64Var(&m.Migrations.To, "migrations-to", 0, "schema that it creates")
	f.StringArrayVar(&files, "file", nil, "tarball of an architecture: linux/amd64=NAME.tar.gz; more than once")
	f.StringArrayVar(&add, "add-key", nil, "public key that is trusted from this release on")
	f.StringSliceVar(&m.Withdrawn, "withdraw-key", nil, "ID of a key to withdraw: updaters no longer trust it once they have this release")
	return c
}

// describeFiles returns the manifest's entries of the tarballs. Each entry of
// files is ARCHITECTURE=NAME, where the name must be a plain file name in dir,
// because installations download it from beside the manifest.
func describeFiles(dir string, files []string) (map[string]release.File, error) {
	described := map[string]release.File{}
	for _, entry := range files {
		arch, name, ok := strings.Cut(entry, "=")
		if !ok || name != filepath.Base(name) || described[arch].Name != "" {
			return nil, fmt.Errorf("--file %s: give each architecture once, as linux/amd64=NAME.tar.gz", entry)
		}
		file, err := describeFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		described[arch] = file
	}
	if len(described) == 0 {
		return nil, errors.New("name the tarballs with --file")
	}
	return described, nil
}

// describeFile returns the name, the size in bytes and the SHA-256 of a
// tarball.
func describeFile(path string) (release.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return release.File{}, fmt.Errorf("opening the tarball: %w", err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return release.File{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return release.File{Name: filepath.Base(path), Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// readKeys reads public keys in PEM. Publish checks their content.
func readKeys(paths []string) ([]string, error) {
	var keys []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a public key: %w", err)
		}
		keys = append(keys, string(text))
	}
	return keys, nil
}
