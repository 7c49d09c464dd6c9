package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

// Shipped lists the file names in the folder of the release that look like plugins, pinned or not.
func (m *Manager) Shipped() ([]string, error) { return list(m.cfg.Dir) }

// Discover lists the file names in both plugin folders that look like plugins, pinned or not, sorted.
func (m *Manager) Discover() ([]string, error) {
	files, err := m.Shipped()
	if err != nil || m.cfg.OwnDir == "" {
		return files, err
	}
	own, err := list(m.cfg.OwnDir)
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	files = append(files, own...)
	slices.Sort(files)
	return slices.Compact(files), nil
}

func list(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the plugin folder: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), sdk.FilePrefix) && !e.IsDir() {
			files = append(files, e.Name())
		}
	}
	return files, nil
}

// folder returns the folder that has a file: that of the release, unless only the other one has it.
func (m *Manager) folder(file string) string {
	if m.cfg.OwnDir != "" {
		_, shipped := os.Lstat(filepath.Join(m.cfg.Dir, file))
		_, own := os.Lstat(filepath.Join(m.cfg.OwnDir, file))
		if errors.Is(shipped, fs.ErrNotExist) && own == nil {
			return m.cfg.OwnDir
		}
	}
	return m.cfg.Dir
}

// resolve gives the real path of a file in a plugin folder and holds all rules about it:
//
// the name is a bare one with the prefix, so that it contains no "..", no slash
// and no leading dot;
//
// symbolic links are followed and must end inside the folder;
//
// the file is regular and executable;
//
// neither the file nor any folder above it can be written by others, nor by the
// service's own user: a manipulated service must not be able to replace its
// plugins.
func (m *Manager) resolve(file string) (string, error) {
	if file != filepath.Base(file) || strings.ContainsAny(file, "/\\\x00") || !strings.HasPrefix(file, sdk.FilePrefix) {
		return "", fmt.Errorf("%w: %q must be a file name that starts with %s", ErrPath, file, sdk.FilePrefix)
	}
	dir, err := filepath.Abs(m.folder(file))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("%w: finding the plugin folder: %w", ErrPath, err)
	}
	path, err := filepath.EvalSymlinks(filepath.Join(dir, file))
	if err != nil {
		return "", fmt.Errorf("%w: finding %s: %w", ErrPath, file, err)
	}
	if !strings.HasPrefix(path, dir+string(filepath.Separator)) {
		return "", fmt.Errorf("%w: %s is a link that leads outside the plugin folder", ErrPath, file)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: checking %s: %w", ErrPath, file, err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%w: %s is not a program", ErrPath, file)
	}
	for at := path; ; at = filepath.Dir(at) {
		if err := m.guarded(at, len(at) >= len(dir)); err != nil {
			return "", err
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
	}
}

// guarded checks who can replace the file or folder at a path. inside is true
// for the plugin folder and its content, and false for the folders above it.
func (m *Manager) guarded(path string, inside bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: checking %s: %w", ErrPath, path, err)
	}
	owner := uint32(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = st.Uid
	}
	who := writers(info.Mode(), int(owner), os.Geteuid())
	switch {
	case who == "":
		return nil
	case m.cfg.AllowWritableDir && (who != writableByOthers || !inside):
		m.warnWritable(path, who)
		return nil
	default:
		return fmt.Errorf("%w: %s can be written to by %s, who could replace a plugin: change its owner to root (chown root), and do "+
			"not let others write to it (chmod go-w)", ErrPath, path, who)
	}
}

// Who may write to a path besides root and a separate owner.
const (
	writableByOthers = "others"
	writableByUs     = "the service's own user or its group"
	writableByOwner  = "its owner, who is not root"
)

// writers returns who can write to a file or folder with this mode and owner,
// besides root and a separate owner, for a service that runs as user. In a
// folder with the sticky bit nobody can replace the files of others. If the
// service runs as root there is nothing to protect from it, but a file of
// another user would give that user the service.
func writers(mode fs.FileMode, owner, user int) string {
	sticky := mode.IsDir() && mode&fs.ModeSticky != 0
	switch {
	case mode.Perm()&0o002 != 0 && !sticky:
		return writableByOthers
	case user == 0 && owner != 0:
		return writableByOwner
	case mode.Perm()&0o020 != 0 && !sticky, user != 0 && owner == user:
		return writableByUs
	}
	return ""
}
