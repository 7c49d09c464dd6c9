package selfupdate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hostler/hostler/updater/installation"
)

// Shape is how this service was installed. It decides who can update it.
type Shape string

// The shapes.
const (
	// ShapePackage means that the running program is in a release folder below
	// the updater's prefix, so the updater can replace it.
	ShapePackage Shape = "package"
	// ShapeContainer means that it runs from a container image. A new image
	// replaces it.
	ShapeContainer Shape = "container"
	// ShapeSource means that somebody built and started it by hand.
	ShapeSource Shape = "source"
)

// ParseShape parses a shape. The empty string is valid and means that the shape
// is detected.
func ParseShape(text string) (Shape, error) {
	if text == "" || slices.Contains([]Shape{ShapePackage, ShapeContainer, ShapeSource}, Shape(text)) {
		return Shape(text), nil
	}
	return "", fmt.Errorf("%q is not one of package, container, source", text)
}

// Machine is the environment in which Shape looks. Tests replace it.
type Machine struct {
	// Root is the root of the file system.
	Root string
	// Program is the path of the running program.
	Program string
	// Getenv reads the environment.
	Getenv func(string) string
}

// ThisMachine returns the environment of this process.
func ThisMachine() Machine {
	program, _ := os.Executable() // an empty one is no release
	return Machine{Root: "/", Program: program, Getenv: os.Getenv}
}

// Shape detects the shape.
//
// It recognizes a container image by what its runtimes leave: Podman's
// /run/.containerenv, Docker's /.dockerenv, and the variable
// KUBERNETES_SERVICE_HOST of every pod. A container that is a whole system
// (LXC, systemd-nspawn) has none of them; there a package is installed and
// updated as on any machine.
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

// Release returns the version of the release folder that contains the running
// program; empty if it is in none.
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
