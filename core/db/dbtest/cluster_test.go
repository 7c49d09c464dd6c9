package dbtest_test

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

func TestServer(t *testing.T) {
	t.Parallel()
	began := time.Now()
	server, err := dbtest.Server()
	if err != nil {
		t.Fatal(err)
	}
	t.Log("started in", time.Since(began))
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var super bool
	var fsync string
	if err := conn.QueryRow(t.Context(),
		`SELECT rolsuper, current_setting('fsync') FROM pg_roles WHERE rolname = current_user`).Scan(&super, &fsync); err != nil {
		t.Fatal(err)
	}
	if !super {
		t.Error("the test role is no superuser")
	}
	if os.Getenv(dbtest.ServerVariable) == "" && fsync != "off" {
		t.Errorf("fsync is %s", fsync)
	}
	if again, err := dbtest.Server(); err != nil || again != server {
		t.Errorf("second call gave %q, %v", again, err)
	}
}

// The test binary started again with this variable is a test process that waits to be killed.
const victimVariable = "HOSTLER_DBTEST_VICTIM"

func TestServerVanishesWithItsProcess(t *testing.T) {
	if os.Getenv(victimVariable) != "" {
		server, err := dbtest.Server()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(server)
		select {}
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerVanishesWithItsProcess$")
	cmd.Env = append(os.Environ(), victimVariable+"=1", dbtest.ServerVariable+"=") // a server from outside would not vanish
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := cmd.Process.Kill(); killed != nil {
		t.Fatal(killed)
	}
	_ = cmd.Wait() // killed
	if err != nil {
		t.Fatal("the process gave no server:", err)
	}
	parsed, err := url.Parse(line[:len(line)-1])
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(parsed.Query().Get("host"))
	waittest.Until(t, dir+" is gone", func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
}
