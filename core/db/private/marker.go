package private

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	markerName    = "hostler.json"
	markerProgram = "hostler"
)

// marker proves that this service created a data directory. It is written
// before the directory gets its final name, so a directory without a marker was
// created by another program.
type marker struct {
	Program string `json:"program"`
	// ID is random. The titles of the running processes contain it.
	ID string `json:"id"`
	// SystemIdentifier is the identifier that initdb gave the cluster. It ties
	// the marker to the data: files of another cluster that were copied over it
	// have another identifier.
	SystemIdentifier string    `json:"system_identifier"`
	Major            int       `json:"major"`
	Created          time.Time `json:"created"`
}

// clusterName returns the value of the setting cluster_name, which the titles
// of PostgreSQL's processes contain.
func (m marker) clusterName() string { return "hostler-" + m.ID }

// readMarker checks that data is a cluster of this service and returns its
// marker. Every refusal is ErrForeign.
func readMarker(data *os.Root) (marker, error) {
	var m marker
	text, err := readSmall(data, markerName)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w: %s has no %s, so another program created it; nothing was changed. Choose another folder", ErrForeign,
			data.Name(), markerName)
	}
	if err != nil {
		return m, fmt.Errorf("reading the marker of the private cluster: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Program != markerProgram || m.ID == "" {
		return m, fmt.Errorf("%w: %s in %s is not readable; nothing was changed", ErrForeign, markerName, data.Name())
	}
	major, err := readMajor(data)
	if err != nil {
		return m, err
	}
	system, err := readSystemIdentifier(data)
	if err != nil {
		return m, err
	}
	if major != m.Major || system != m.SystemIdentifier {
		return m, fmt.Errorf("%w: %s contains cluster %s of version %d, but its marker belongs to cluster %s of version %d; nothing "+
			"was changed. Restore the right data, or choose another folder",
			ErrForeign, data.Name(), system, major, m.SystemIdentifier, m.Major)
	}
	return m, nil
}

// readMajor reads the major version from PG_VERSION.
func readMajor(data *os.Root) (int, error) {
	text, err := readSmall(data, "PG_VERSION")
	if err != nil {
		return 0, fmt.Errorf("%w: %s contains no complete cluster; nothing was changed: %v", ErrForeign, data.Name(), err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%w: PG_VERSION of %s is not readable; nothing was changed", ErrForeign, data.Name())
	}
	return major, nil
}

// readSystemIdentifier reads the first field of PostgreSQL's control file. Its
// place has been the same in every version (ControlFileData in
// src/include/catalog/pg_control.h). It is in the byte order of the machine.
func readSystemIdentifier(data *os.Root) (string, error) {
	f, err := data.Open("global/pg_control")
	if err != nil {
		return "", fmt.Errorf("%w: %s contains no complete cluster; nothing was changed: %v", ErrForeign, data.Name(), err)
	}
	defer f.Close()
	var head [8]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return "", fmt.Errorf("%w: the control file of %s is truncated; nothing was changed", ErrForeign, data.Name())
	}
	return strconv.FormatUint(binary.NativeEndian.Uint64(head[:]), 10), nil
}

// readSmall reads at most 64 KiB of a file.
func readSmall(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 64<<10))
}
