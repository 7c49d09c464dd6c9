// Command manylxd answers as an LXD with so many containers does, until its standard input ends. It prints its address.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strconv"

	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

func main() {
	guests, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewUnstartedServer(lxdtest.Many(guests))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	fmt.Println(server.Listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
