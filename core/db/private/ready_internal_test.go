package private

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A postmaster that dies between its word that it is ready and the question at its socket is started again; only somebody else who
// answers there is a reason to give up.
func TestNobodyAnswersAtTheSocket(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ listens, foreign bool }{"nobody": {}, "someone else": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("/tmp", "hostler-ready-") // a socket's path is short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			const postmasterID = 1 << 30 // no process has it
			file := fmt.Sprintf("%d\n\n\n\n../run\n\n\nready\n", postmasterID)
			if err := os.WriteFile(filepath.Join(dir, pidName), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			data, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			if c.listens {
				listener, err := net.Listen("unix", filepath.Join(dir, socketName))
				if err != nil {
					t.Fatal(err)
				}
				defer listener.Close()
			}
			cluster := &Cluster{data: data, alias: alias{path: dir}, account: Account{UID: os.Geteuid()}, logger: hclog.NewNullLogger()}
			err = cluster.ready(t.Context(), &postmaster{process: &process{pid: postmasterID}, gone: make(chan struct{})})
			if err == nil || errors.Is(err, ErrForeign) != c.foreign {
				t.Errorf("error is %v", err)
			}
		})
	}
}
