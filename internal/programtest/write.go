// Package programtest is for tests that make programs, and that start processes while others do.
package programtest

import (
	"os"
	"syscall"
)

// Write writes a program or a script that can be started at once. os.WriteFile is not enough where another goroutine starts
// a process meanwhile: its child has the file open for writing until it executes its own program, and the kernel executes
// no file that is (ETXTBSY). So nobody forks while the file is open.
func Write(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}
