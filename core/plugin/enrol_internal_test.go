package plugin

import (
	"errors"
	"testing"

	sdk "github.com/hostler/hostler/sdk/plugin"
)

func TestAcceptable(t *testing.T) {
	t.Parallel()
	driver := sdk.Description{Kind: sdk.KindHypervisor, Name: "pve", Version: "1.0.0"}
	backend := sdk.Description{Kind: sdk.KindFirewall, Name: "pve", Version: "1.0.0"}
	pinned := func(d sdk.Description, file string) Pin {
		return Pin{Kind: d.Kind, Name: d.Name, Version: "0.9", File: file}
	}
	with := func(change func(*sdk.Description)) []sdk.Description {
		d := driver
		change(&d)
		return []sdk.Description{d}
	}
	for name, c := range map[string]struct {
		services []sdk.Description
		existing []Pin
		ok       bool
	}{
		"new":                     {[]sdk.Description{driver}, nil, true},
		"two kinds of one name":   {[]sdk.Description{driver, backend}, nil, true},
		"an upgrade":              {[]sdk.Description{driver}, []Pin{pinned(driver, "f")}, true},
		"one kind more":           {[]sdk.Description{driver, backend}, []Pin{pinned(driver, "f")}, true},
		"one kind less":           {[]sdk.Description{driver}, []Pin{pinned(driver, "f"), pinned(backend, "f")}, false},
		"another file has it":     {[]sdk.Description{driver}, []Pin{pinned(driver, "g")}, false},
		"another file is another": {[]sdk.Description{driver}, []Pin{pinned(backend, "g")}, true},
		"nothing":                 {nil, nil, false},
		"unknown kind":            {with(func(d *sdk.Description) { d.Kind = "toaster" }), nil, false},
		"no name":                 {with(func(d *sdk.Description) { d.Name = "" }), nil, false},
		"hostile name":            {with(func(d *sdk.Description) { d.Name = "../pve" }), nil, false},
		"hostile version":         {with(func(d *sdk.Description) { d.Version = "1\n2" }), nil, false},
		"no version":              {with(func(d *sdk.Description) { d.Version = "" }), nil, false},
	} {
		err := acceptable("f", c.services, c.existing)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
