// Command openapi prints the OpenAPI document that the page's types are made of.
package main

import (
	"os"

	"github.com/hostler/hostler/core/api"
)

func main() {
	if _, err := os.Stdout.Write(api.New(api.Deps{}).Document()); err != nil {
		panic(err)
	}
}
