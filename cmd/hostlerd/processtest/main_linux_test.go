package processtest

import (
	"testing"

	"github.com/hostler/hostler/plugins/lxd/lxdtest"
)

func TestMain(m *testing.M) { lxdtest.Main(m, removePrograms) }
