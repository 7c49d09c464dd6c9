package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCertificateIsPlacedWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := Config{StateDir: dir, Listen: "192.0.2.1:8480"}
	made, err := ownCertificate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ownCertificate(cfg)
	if err != nil || !again.Leaf.Equal(made.Leaf) {
		t.Errorf("a second start has another certificate, %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "tls"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}
