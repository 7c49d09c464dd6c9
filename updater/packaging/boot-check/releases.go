package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// The versions. Those of the packages are built in full; so is what an update brings.
const (
	// The versions of packages and of real updates are built completely. The
	// faulty ones are copies with another number and a script in place of the
	// service.
	firstVersion  = "1.0.0" // a package
	secondVersion = "1.1.0" // an update with a migration
	silentVersion = "1.2.0" // its service is never ready
	crashVersion  = "1.2.1" // its service ends at once
	heldVersion   = "1.2.2" // its migration of the live database waits while /run/hold is there
	fourthVersion = "1.3.0" // a package, with one migration more
)

// releases are the packages, and what the release server offers. Both machines
// share them.
type releases struct {
	first, fourth string // packages
	served        string // folder of the release server
	key           string // private
	trusted       string // folder of its public half
	sign          string // the program hostler-sign
	published     int

	meanwhile               context.Context // of the errands
	errands                 sync.WaitGroup
	firstBuilt, secondBuilt *errand
	overlays                map[string]string
}

// build creates the signing key and starts to build packages and releases in
// the background.
func (c *check) build(ctx context.Context) (string, error) {
	r := c.releases
	at := func(parts ...string) string { return filepath.Join(append([]string{c.dir}, parts...)...) }
	r.served, r.key, r.trusted, r.sign = at("served"), at("keys", "check.key"), at("trusted"), at("hostler-sign")
	for _, dir := range []string{r.served, at("keys"), r.trusted} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
	}
	if _, err := c.program(ctx, "go", "build", "-trimpath", "-o", r.sign, "./cmd/hostler-sign"); err != nil {
		return "", err
	}
	if _, err := c.program(ctx, r.sign, "key", "new", r.key); err != nil {
		return "", err
	}
	if err := os.Rename(at("keys", "check.pub"), filepath.Join(r.trusted, "check.pub")); err != nil {
		return "", err
	}
	one, err := c.overlay("one.json", map[string]string{"90001_second.sql": "CREATE TABLE second_release (note text NOT NULL); INSERT " +
		"INTO second_release VALUES ('migrated');"})
	if err != nil {
		return "", err
	}
	two, err := c.overlay("two.json", map[string]string{
		"90001_second.sql": "CREATE TABLE second_release (note text NOT NULL); INSERT INTO second_release VALUES ('migrated');",
		"90002_fourth.sql": "CREATE TABLE fourth_release (note text NOT NULL);",
	})
	if err != nil {
		return "", err
	}
	debs := func(version string) string { return at(version, "hostler_"+version+"_"+runtime.GOARCH+".deb") }
	r.first, r.fourth = debs(firstVersion), debs(fourthVersion)
	r.overlays = map[string]string{secondVersion: one, heldVersion: one, fourthVersion: two}
	r.firstBuilt = r.errand(c.made(firstVersion, "deb"))
	r.secondBuilt = r.errand(c.made(secondVersion, "release-tree"), c.packed(secondVersion, secondVersion, ""),
		c.packed(silentVersion, secondVersion, `[ "$1" != serve ] || exec sleep 3600`))
	return "", nil
}

// buildOthers builds what the first updates do not need.
func (c *check) buildOthers() *errand {
	return c.releases.errand(
		c.packed(crashVersion, secondVersion, `[ "$1" != serve ] || exit 1`),
		c.made(heldVersion, "release-tree"), c.packed(heldVersion, heldVersion, hold),
		c.made(fourthVersion, "deb"),
	)
}

// errand is work in the background.
type errand struct {
	done chan struct{}
	err  error
}

// errand runs functions one after the other in the background, up to the first
// that fails.
func (r *releases) errand(all ...func() error) *errand {
	e := &errand{done: make(chan struct{})}
	r.errands.Go(func() {
		defer close(e.done)
		for _, do := range all {
			if e.err = do(); e.err != nil {
				return
			}
		}
	})
	return e
}

// wait waits for the end of an errand and returns its error.
func (e *errand) wait() error {
	<-e.done
	return e.err
}

// made returns a function that builds a package or a release tree with make.
// Migrations of later versions come from an overlay, so the repository is not
// changed.
func (c *check) made(version, target string) func() error {
	return func() error {
		cmd := c.command(c.releases.meanwhile, "make", "-s", target, "VERSION="+version, "BIN="+filepath.Join(c.dir, version),
			"RELEASE_KEYS="+c.releases.trusted)
		if overlay := c.releases.overlays[version]; overlay != "" {
			cmd.Env = append(cmd.Env, "GOFLAGS=-overlay="+overlay)
		}
		_, err := output(cmd)
		return err
	}
}

// firstBuilt waits for the first package and records the sizes of its programs.
func (c *check) firstBuilt(context.Context) (string, error) {
	if err := c.releases.firstBuilt.wait(); err != nil {
		return "", err
	}
	names := []string{"hostlerd", "hostler-updater"}
	plugins, err := filepath.Glob(filepath.Join(c.top, "cmd", "hostler-plugin-*"))
	if err != nil {
		return "", err
	}
	for _, plugin := range plugins {
		names = append(names, filepath.Join("plugins", filepath.Base(plugin)))
	}
	for _, name := range names {
		if err := c.sized(filepath.Join(c.tree(firstVersion), "bin", name)); err != nil {
			return "", err
		}
	}
	return "", c.sized(c.releases.first)
}

// secondBuilt waits for the first releases.
func (c *check) secondBuilt(context.Context) (string, error) {
	if err := c.releases.secondBuilt.wait(); err != nil {
		return "", err
	}
	return "", c.sized(filepath.Join(c.dir, tarball(secondVersion)))
}

// sized records the size of a file.
func (c *check) sized(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	c.figure("%s: %.2f MB", filepath.Base(file), float64(info.Size())/1e6)
	return nil
}

// tree returns the release tree of a version.
func (c *check) tree(version string) string {
	return filepath.Join(c.dir, version, "release", runtime.GOARCH)
}

// overlay writes a file for go build -overlay that adds migrations.
func (c *check) overlay(name string, migrations map[string]string) (string, error) {
	replace := map[string]string{}
	for file, sql := range migrations {
		path := filepath.Join(c.dir, name+"-"+file)
		if err := os.WriteFile(path, []byte("-- +goose Up\n"+sql+"\n-- +goose Down\nSELECT 1;\n"), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(c.top, "migrations", file)] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, name)
	return path, os.WriteFile(path, text, 0o644)
}

// tarball returns the file name of a release.
func tarball(version string) string { return "hostler-" + version + ".tar.gz" }

// packed returns a function that packs a release; see pack.
func (c *check) packed(version, of, script string) func() error {
	return func() error { return c.pack(c.releases.meanwhile, version, of, script) }
}

// pack makes a release from the tree of a version, under its own or another
// number. With a script, hostlerd is replaced by a shell script that runs it
// first and can call the real program as "$real".
func (c *check) pack(ctx context.Context, version, of, script string) error {
	tree := filepath.Join(c.dir, "pack-"+version)
	if _, err := c.program(ctx, "cp", "-a", "--reflink=auto", c.tree(of), tree); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "VERSION"), []byte(version+"\n"), 0o644); err != nil {
		return err
	}
	if script != "" {
		program := filepath.Join(tree, "bin", "hostlerd")
		text := "#!/bin/sh\nreal=\"$(dirname \"$(readlink -f \"$0\")\")/hostlerd.real\"\n[ \"$1\" != version ] || { echo " + version +
			"; exit; }\n" + script + "\nexec \"$real\" \"$@\"\n"
		if err := errors.Join(os.Rename(program, program+".real"), os.WriteFile(program, []byte(text), 0o755)); err != nil {
			return err
		}
	}
	_, err := c.program(ctx, c.releases.sign, "pack", tree, filepath.Join(c.dir, tarball(version)))
	return errors.Join(err, os.RemoveAll(tree))
}

// publish signs a release and puts it on the server. Each one has a later date
// than the one before, because an installation refuses a manifest that is older
// than one it has seen.
func (c *check) publish(ctx context.Context, version string) error {
	name := tarball(version)
	if err := os.Rename(filepath.Join(c.dir, name), filepath.Join(c.releases.served, name)); err != nil {
		return err
	}
	// Each is newer than the one before: an installation refuses what is older than what it has seen.
	c.releases.published++
	date := c.began.Add(-time.Hour).Add(time.Duration(c.releases.published) * time.Second).UTC().Format(time.RFC3339)
	_, err := c.program(ctx, c.releases.sign, "publish", c.releases.served, "--version", version, "--date", date, "--minimum", firstVersion,
		"--migrations-to", "90001",
		"--file", "linux/"+runtime.GOARCH+"="+name, "--key", c.releases.key)
	return err
}

// releasePort is the address of the release server in the container.
const releasePort = "127.0.0.1:8843"

// serve creates a certificate authority, adds it to the container's trust, and
// starts the release server.
func (c *check) serve(ctx context.Context) (string, error) {
	authority, authorityKey, err := certificate("Check authority", nil, nil)
	if err != nil {
		return "", err
	}
	leaf, key, err := certificate("127.0.0.1", authority, authorityKey)
	if err != nil {
		return "", err
	}
	trust := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})
	if err := os.WriteFile(filepath.Join(c.root(), "usr/local/share/ca-certificates/check.crt"), trust, 0o644); err != nil {
		return "", err
	}
	if _, err := c.machine.sh(ctx, "update-ca-certificates"); err != nil {
		return "", err
	}
	c.server = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
	config := fmt.Sprintf("{\"source\": \"https://%s\", \"channel\": \"stable\"}\n", releasePort)
	if err := os.WriteFile(filepath.Join(c.root(), "etc/hostler/updater.json"), []byte(config), 0o644); err != nil {
		return "", err
	}
	return "https://" + releasePort, c.listenForReleases()
}

// listenForReleases starts the release server, which runs until the container
// stops. It must be called again after each boot, since the socket belongs to
// the container's network.
func (c *check) listenForReleases() error {
	listener, err := c.machine.listen(context.Background(), releasePort)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(c.releases.served)), ReadHeaderTimeout: 10 * time.Second}
	ended := c.machine.ended
	go func() {
		_ = server.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{c.server}, MinVersion: tls.VersionTLS12}))
	}()
	go func() { <-ended; _ = server.Close() }()
	return nil
}

// certificate creates a certificate that is valid for a day: an authority if by
// is nil, otherwise a server certificate for an IP address.
func certificate(name string, by *x509.Certificate, byKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true}
	if by == nil {
		template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
		by, byKey = template, key
	} else {
		template.IPAddresses, template.ExtKeyUsage = []net.IP{net.ParseIP(name)}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, by, key.Public(), byKey)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(raw)
	return made, key, err
}
