package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hostler/hostler/updater/release"
)

// packCommand returns the command that packs a release reproducibly: the same
// files and the same date give the same bytes, so that others can rebuild a
// release and compare checksums. It removes an incomplete tarball after an
// error.
func packCommand() *cobra.Command {
	var date string
	c := &cobra.Command{
		Use:   "pack FOLDER TARBALL",
		Short: "Pack the files of a release; the same files and date give the same bytes",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := parseDate(date)
			if err != nil {
				return err
			}
			file, err := release.Pack(args[0], args[1], at)
			if err != nil {
				_ = os.Remove(args[1])
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %d bytes\n", file.SHA256, file.Name, file.Size)
			return err
		},
	}
	c.Flags().StringVar(&date, "date", "", "date of the release in RFC 3339; by default SOURCE_DATE_EPOCH, or now")
	return c
}

// parseDate returns the date of a release: the flag, or SOURCE_DATE_EPOCH (a
// number of seconds since 1970, reproducible-builds.org), or now with a
// precision of one second.
func parseDate(text string) (time.Time, error) {
	if text == "" {
		if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
			seconds, err := strconv.ParseInt(epoch, 10, 64)
			if err != nil {
				return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
			}
			return time.Unix(seconds, 0).UTC(), nil
		}
		return time.Now().UTC().Truncate(time.Second), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("the date is not in RFC 3339: %w", err)
	}
	return at.UTC(), nil
}
