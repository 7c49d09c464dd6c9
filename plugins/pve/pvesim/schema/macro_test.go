package schema

import "testing"

func TestMacros(t *testing.T) {
	t.Parallel()
	if n := len(macros()); n < 80 {
		t.Errorf("%d macros", n)
	}
	if all := Macros(); len(all) != len(macros()) || all[0].Name != "Amanda" {
		t.Errorf("%d macros are listed, from %s on", len(all), all[0].Name)
	}
	m := FindMacro("http")
	if m == nil || m.Name != "HTTP" || len(m.Rules) != 1 || m.Rules[0].Fields["dport"] != "80" || m.Rules[0].Family != 0 {
		t.Errorf("HTTP is %+v", m)
	}
	if p := FindMacro("Ping"); len(p.Rules) != 2 || p.Rules[1].Family != 6 || p.Rules[1].Fields["icmp-type"] != "echo-request" {
		t.Errorf("Ping is %+v", p)
	}
	if FindMacro("NoMacro") != nil {
		t.Error("found what is not there")
	}
}
