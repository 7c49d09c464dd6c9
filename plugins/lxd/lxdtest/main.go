//go:build linux

package lxdtest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/hostler/hostler/internal/programtest"
)

// childVariable marks the process that runs the tests in its own namespaces.
const childVariable = "HOSTLER_LXDTEST_CHILD"

var (
	furnished   bool   // this is the child, and its namespaces have what LXD needs
	unavailable string // why there can be no LXD; empty when there can
)

// Main runs the package's tests where Shared and New can start servers, and ends the process. TestMain calls it and does
// nothing else: the tests run in a child of the process. What comes after them is called in the process that ran them.
func Main(m *testing.M, after ...func()) {
	run := func() int {
		code := m.Run()
		for _, f := range after {
			f()
		}
		return code
	}
	if os.Getenv(childVariable) != "" {
		_ = os.Unsetenv(childVariable) // a test may start a program that calls Main
		err := prepare()
		if err != nil && !refused(err) {
			fmt.Println("lxdtest:", err)
			os.Exit(1)
		}
		if furnished = err == nil; !furnished {
			unavailable = "the namespaces cannot be furnished: " + err.Error()
		}
		os.Exit(run())
	}
	flag.Parse()
	if testing.Short() {
		unavailable = "make check starts it"
		os.Exit(run())
	}
	if unavailable = missing(); unavailable == "" {
		code, err := runInNamespaces()
		if err == nil {
			os.Exit(code)
		}
		if unavailable = "there are no namespaces to be had: " + err.Error(); !refused(err) {
			fmt.Println("lxdtest:", err)
			os.Exit(1)
		}
	}
	os.Exit(run())
}

// refused reports whether the system does not let us do it, as opposed to a fault of ours.
func refused(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOSPC) // no more namespaces
}

// runInNamespaces runs the tests in a child. Its error says that there was none.
func runInNamespaces() (code int, err error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	traces, err := noteCgroups()
	if err != nil {
		return 0, err
	}
	defer traces.remove()

	// Process 1 is a shell, which reaps what LXD leaves behind. Its end ends all the others.
	child := exec.Command("/bin/sh", append([]string{"-c", `"$0" "$@" & wait $!; exit $?`, exe}, os.Args[1:]...)...)
	child.Env = append(os.Environ(), childVariable+"=1")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	runtime.LockOSThread() // the signal is for the end of the thread that started the child
	defer runtime.UnlockOSThread()
	if err := child.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go thawAfter(child.Process.Pid, ended)
	_ = child.Wait() // the state tells all
	close(ended)
	return child.ProcessState.ExitCode(), nil
}

// available skips the test where there can be no LXD, or fails it where one is promised.
func available(t testing.TB) {
	t.Helper()
	switch {
	case furnished:
	case unavailable == "":
		t.Fatal("lxdtest: TestMain does not call lxdtest.Main")
	default:
		programtest.Missing(t, "no LXD: "+unavailable)
	}
}
