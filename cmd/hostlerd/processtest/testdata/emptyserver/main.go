// Command emptyserver answers every request with 200: the least that a Go server takes to start.
package main

import (
	"net/http"
	"os"
)

func main() {
	_ = http.ListenAndServe(os.Args[1], http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}
