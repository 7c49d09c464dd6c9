//go:build linux

package lxdtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// initScript is process 1 of a container. It writes a line to boots at each start. It follows a request to shut down at once, where
// busybox' own init takes 3 s.
const initScript = "#!/bin/sh\ntrap 'exit 0' PWR TERM INT\necho >>/boots\n: >/run/listening\nwhile :; do sleep 3600 & wait $!; done\n"

// stubbornScript does not listen to a request to shut down.
const stubbornScript = "#!/bin/sh\ntrap '' PWR TERM INT\necho >>/boots\n: >/run/listening\nwhile :; do sleep 3600 & wait $!; done\n"

// image makes a system of 1 MiB: a static busybox and an init. It is a tar file of metadata and root file system in one.
func image(init string) ([]byte, error) {
	program, err := os.ReadFile(busybox)
	if err != nil {
		return nil, err
	}
	architecture := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if architecture == "" {
		return nil, fmt.Errorf("no image is made for %s", runtime.GOARCH)
	}
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	w := imageWriter{tar: tar.NewWriter(packed)}
	w.file("metadata.yaml", []byte("architecture: "+architecture+"\ncreation_date: 1700000000\nproperties: {os: busybox}\n"), 0o644)
	w.add(tar.Header{Name: "rootfs", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	for _, folder := range strings.Fields("bin sbin etc dev proc sys run tmp root var") {
		w.add(tar.Header{Name: "rootfs/" + folder, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	w.file("rootfs/bin/busybox", program, 0o755)
	for _, applet := range strings.Fields("sh sleep") {
		w.add(tar.Header{Name: "rootfs/bin/" + applet, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
	}
	w.file("rootfs/etc/passwd", []byte("root:x:0:0:root:/root:/bin/sh\n"), 0o644)
	w.file("rootfs/sbin/init", []byte(init), 0o755)
	if err := errors.Join(w.err, w.tar.Close(), packed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// imageWriter writes a tar archive and keeps its first error, so that the
// caller checks it once.
type imageWriter struct {
	tar *tar.Writer
	err error
}

func (w *imageWriter) file(name string, content []byte, mode int64) {
	w.add(tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(content))}, content)
}

func (w *imageWriter) add(header tar.Header, content []byte) {
	if w.err == nil {
		w.err = w.tar.WriteHeader(&header)
	}
	if w.err == nil {
		_, w.err = w.tar.Write(content)
	}
}
