package catalogtest_test

import (
	"testing"

	"github.com/hostler/hostler/sdk/catalog/catalogtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	catalogtest.Run(t, catalogtest.Memory{{ID: "a", Name: "A"}, {ID: "b", Name: "B", Description: "the second"}})
}
