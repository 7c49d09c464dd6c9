package release

import (
	"errors"
	"fmt"
	"time"
)

// Errors of a manifest that is signed and still not to be used.
var (
	// ErrReplay: the manifest is older than one that this installation has seen.
	ErrReplay = errors.New("the release is older than one that this installation has already seen")
	// ErrNotNewer: the release is not newer than what is installed.
	ErrNotNewer = errors.New("the release is not newer than the installed version")
	// ErrTooOld: what is installed is older than the release can be installed over.
	ErrTooOld = errors.New("the installed version is too old for this release")
	// ErrChannel: the release is of another channel than the one that is followed.
	ErrChannel = errors.New("the release belongs to another channel")
	// ErrFutureRelease: the release comes from the future.
	ErrFutureRelease = errors.New("the release's date is in the future: the clock of this machine or of the build machine is wrong")
)

// SeenManifest is the newest manifest that an installation has seen of a channel. It is kept where only root writes.
type SeenManifest struct {
	Version string    `json:"version"`
	Date    time.Time `json:"date"`
	// SHA256 is of the manifest's bytes: two different manifests of one date cannot both be the newest.
	SHA256 string `json:"sha256"`
}

// Accept says whether a manifest, given with its bytes, is as new as what was seen, and returns what has been seen then.
// The zero SeenManifest accepts everything.
func (s SeenManifest) Accept(m *Manifest, raw []byte) (SeenManifest, error) {
	sum := Checksum(raw)
	if s.SHA256 == sum {
		return s, nil
	}
	if m.Date.Before(s.Date) || s.Version != "" && Compare(m.Version, s.Version) < 0 {
		return s, fmt.Errorf("%w: %s of %s after %s of %s", ErrReplay,
			m.Version, m.Date.Format(time.RFC3339), s.Version, s.Date.Format(time.RFC3339))
	}
	if m.Date.Equal(s.Date) {
		return s, fmt.Errorf("%w: two different manifests have the date %s", ErrReplay, m.Date.Format(time.RFC3339))
	}
	return SeenManifest{Version: m.Version, Date: m.Date, SHA256: sum}, nil
}

// maxAhead is how much two machines' clocks may differ.
const maxAhead = 24 * time.Hour

// CheckDate refuses a release from the future. Once accepted, it would make every later one a replay.
func (m *Manifest) CheckDate(now time.Time) error {
	if m.Date.After(now.Add(maxAhead)) {
		return fmt.Errorf("%w: the release has the date %s, and the time here "+
			"is %s", ErrFutureRelease, m.Date.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

// SeenChannels is what an installation has seen, by channel: what came by one that was followed earlier decides nothing in
// another.
type SeenChannels map[string]SeenManifest

// Accept is SeenManifest's for the manifest's channel, and notes what has been seen.
func (c SeenChannels) Accept(m *Manifest, raw []byte) error {
	seen, err := c[m.Channel].Accept(m, raw)
	if err == nil {
		c[m.Channel] = seen
	}
	return err
}

// CheckChannel refuses a manifest of another channel.
func (m *Manifest) CheckChannel(channel string) error {
	if m.Channel != channel {
		return fmt.Errorf("%w: %s instead of %s", ErrChannel, m.Channel, channel)
	}
	return nil
}

// CheckUpgrade says whether the release may replace the installed version on this channel.
func (m *Manifest) CheckUpgrade(installed, channel string) error {
	if err := m.CheckChannel(channel); err != nil {
		return err
	}
	switch {
	case Compare(m.Version, installed) <= 0:
		return fmt.Errorf("%w: %s over %s", ErrNotNewer, m.Version, installed)
	case Compare(installed, m.Minimum) < 0:
		return fmt.Errorf("%w: %s needs at least %s, and %s is installed", ErrTooOld, m.Version, m.Minimum, installed)
	}
	return nil
}
