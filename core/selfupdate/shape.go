package selfupdate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hostler/hostler/updater/installation"
)

// Shape is how this Hostler was installed.
type Shape string

// The shapes.
const (
	// ShapePackage: the running program is a release below the updater's prefix, so that the updater can replace it.
	ShapePackage Shape = "package"
	// ShapeContainer: it runs from a container image, and a new image replaces it.
	ShapeContainer Shape = "container"
	// ShapeSource: somebody built it and started it by hand.
	ShapeSource Shape = "source"
)

// ParseShape reads a shape; the empty text is none.
func ParseShape(text string) (Shape, error) {
	if text == "" || slices.Contains([]Shape{ShapePackage, ShapeContainer, ShapeSource}, Shape(text)) {
		return Shape(text), nil
	}
	return "", fmt.Errorf("%q is not one of package, container, source", text)
}

// Machine is what the shape is read from.
type Machine struct {
	// Root is the root of the file system.
	Root string
	// Program is the path of the running program.
	Program string
	// Getenv reads the environment.
	Getenv func(string) string
}

// ThisMachine is the one that this process runs on.
func ThisMachine() Machine {
	program, _ := os.Executable() // an empty one is no release
	return Machine{Root: "/", Program: program, Getenv: os.Getenv}
}

// Shape reads the shape.
//
// A container image is known by the marks that its runtimes leave: Podman's /run/.containerenv, Docker's /.dockerenv, and
// the variable KUBERNETES_SERVICE_HOST of every pod. A container that is a whole system (LXC, systemd-nspawn) has none of
// them: there a package is installed and updated as on any machine.
func (m Machine) Shape(configFile string) Shape {
	for _, mark := range []string{"run/.containerenv", ".dockerenv"} {
		if _, err := os.Lstat(filepath.Join(m.Root, mark)); err == nil {
			return ShapeContainer
		}
	}
	if m.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return ShapeContainer
	}
	if m.Release(configFile) != "" {
		return ShapePackage
	}
	return ShapeSource
}

// Release is the version of the release's folder that the running program lies in; empty when it lies in none.
func (m Machine) Release(configFile string) string {
	c, err := installation.ReadConfig(configFile)
	if err != nil {
		return ""
	}
	releases, err := filepath.EvalSymlinks(filepath.Join(c.Prefix, "releases"))
	if err != nil {
		return ""
	}
	inside, err := filepath.Rel(releases, m.Program)
	if err != nil {
		return ""
	}
	version, rest, below := strings.Cut(inside, string(filepath.Separator))
	if !below || rest == "" || !installation.ValidVersion(version) {
		return ""
	}
	return version
}
