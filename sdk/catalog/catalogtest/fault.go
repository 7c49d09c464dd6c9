package catalogtest

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/hostler/hostler/sdk/catalog"
)

// Fault is one way in which a Hostile source falsifies an answer. Exactly one
// of the functions is set, the one of its verb.
type Fault struct {
	Name string
	// Verb is the falsified call: "sync", "entry", "bundle" or "launch".
	Verb   string
	sync   func([]catalog.SyncStep) []catalog.SyncStep
	entry  func(*catalog.Entry)
	bundle func(hostileBundle) []catalog.BundlePart
	launch func(*catalog.Launch)
}

// Faults returns all faults. A test loops over them with Hostile.SetFault and
// expects that each one is rejected.
func Faults() []Fault { return slices.Clone(faults) }

var faults = slices.Concat(syncFaults, entryFaults, bundleFaults, launchFaults)

// lastEntry returns the index of the last step of a sync that has an entry. It
// panics if there is none, which is an error of the test.
func lastEntry(steps []catalog.SyncStep) int {
	for i, step := range slices.Backward(steps) {
		if step.Entry != nil {
			return i
		}
	}
	panic("catalogtest: a sync without entries cannot be falsified")
}

// changed falsifies the last entry of a sync. It copies the entry, because the
// honest source may keep a pointer to it.
func changed(change func(*catalog.Entry)) func([]catalog.SyncStep) []catalog.SyncStep {
	return func(steps []catalog.SyncStep) []catalog.SyncStep {
		i := lastEntry(steps)
		e := *steps[i].Entry
		change(&e)
		steps[i].Entry = &e
		return steps
	}
}

// ended falsifies the last step of a sync.
func ended(change func(*catalog.End)) func([]catalog.SyncStep) []catalog.SyncStep {
	return func(steps []catalog.SyncStep) []catalog.SyncStep {
		end := *steps[len(steps)-1].End
		change(&end)
		steps[len(steps)-1].End = &end
		return steps
	}
}

// begun falsifies the first step of a sync.
func begun(change func(*catalog.Begin)) func([]catalog.SyncStep) []catalog.SyncStep {
	return func(steps []catalog.SyncStep) []catalog.SyncStep {
		begin := *steps[0].Begin
		change(&begin)
		steps[0].Begin = &begin
		return steps
	}
}

// syncFaults break the frame of a sync (missing, repeated or contradicting
// steps), its totals, its pin, or an entry. The entries try to inject scripts,
// control characters, paths and oversized texts.
var syncFaults = []Fault{
	{Name: "sync: nothing at all", Verb: "sync", sync: func([]catalog.SyncStep) []catalog.SyncStep { return nil }},
	{Name: "sync: cut before the end", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep { return s[:len(s)-1] }},
	{Name: "sync: an entry is missing", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep {
		i := lastEntry(s)
		return slices.Delete(s, i, i+1)
	}},
	{Name: "sync: a slug comes twice", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep {
		i := lastEntry(s)
		return slices.Insert(s, i, s[i])
	}},
	{Name: "sync: no begin", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep { return s[1:] }},
	{Name: "sync: two begins", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep { return slices.Insert(s, 1, s[0]) }},
	{Name: "sync: two ends", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep { return append(s, s[len(s)-1]) }},
	{Name: "sync: an empty step", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep {
		return slices.Insert(s, 1, catalog.SyncStep{})
	}},
	{Name: "sync: two things in a step", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep {
		i := lastEntry(s)
		s[i].Removed = "nobody"
		return s
	}},
	{Name: "sync: what was not there is removed", Verb: "sync", sync: func(s []catalog.SyncStep) []catalog.SyncStep {
		return slices.Insert(s, len(s)-1, catalog.SyncStep{Removed: "nobody-has-it"})
	}},
	{Name: "sync: a wrong digest of all", Verb: "sync", sync: ended(func(e *catalog.End) { e.Digest = strings.Repeat("0", 64) })},
	{Name: "sync: a wrong count", Verb: "sync", sync: ended(func(e *catalog.End) { e.Entries++ })},
	{Name: "sync: a cursor without end", Verb: "sync", sync: ended(func(e *catalog.End) {
		e.Cursor = strings.Repeat("c", catalog.MaxCursor+1)
	})},
	{Name: "sync: a branch for a pin", Verb: "sync", sync: begun(func(b *catalog.Begin) {
		b.Pin = catalog.Pin{{Repository: "a/b", Commit: "main"}}
	})},
	{Name: "sync: another pin", Verb: "sync", sync: begun(func(b *catalog.Begin) {
		b.Pin = catalog.Pin{{Repository: "a/b", Commit: strings.Repeat("0", 40)}}
	})},
	{Name: "sync: changes only", Verb: "sync", sync: begun(func(b *catalog.Begin) { b.Whole = false })},
	{Name: "sync: unchanged, with changes", Verb: "sync", sync: begun(func(b *catalog.Begin) { b.Unchanged, b.Whole = true, false })},
	{Name: "sync: a category comes twice", Verb: "sync", sync: begun(func(b *catalog.Begin) {
		b.Categories = []catalog.Category{{Key: "x", Name: "X"}, {Key: "x", Name: "X"}}
	})},
	{Name: "sync: an entry's digest is changed", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Digest = strings.Repeat("1", 64) })},
	{Name: "sync: an entry's digest is none", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Digest = "x" })},
	{Name: "sync: a slug is a path", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Slug = "../../etc/passwd" })},
	{Name: "sync: an entry without a pin", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.App, e.Removed = nil, "" })},
	{Name: "sync: an entry of no type", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Type = "root" })},
	{Name: "sync: a website that is a script", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Website = "javascript:alert(1)" })},
	{Name: "sync: a name with control characters", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Name = "a\x1b[2Jb" })},
	{Name: "sync: a description without end", Verb: "sync", sync: changed(func(e *catalog.Entry) {
		e.Description = strings.Repeat("d", 64<<10+1)
	})},
	{Name: "sync: an unknown category", Verb: "sync", sync: changed(func(e *catalog.Entry) { e.Categories = []string{"nowhere"} })},
	{Name: "sync: an impossible port", Verb: "sync", sync: changed(func(e *catalog.Entry) {
		e.Web = &catalog.Web{Protocol: "http", Port: 1 << 20}
	})},
}

// entryFaults answer with another entry, or with one that cannot be verified.
var entryFaults = []Fault{
	{Name: "entry: another slug", Verb: "entry", entry: func(e *catalog.Entry) { e.Slug += "x" }},
	{Name: "entry: no digest", Verb: "entry", entry: func(e *catalog.Entry) { e.Digest = "" }},
}

// manifested falsifies the manifest of a bundle and keeps its contents.
func manifested(change func(*catalog.Manifest)) func(hostileBundle) []catalog.BundlePart {
	return func(b hostileBundle) []catalog.BundlePart {
		change(&b.manifest)
		return b.parts()
	}
}

// content falsifies the contents of a bundle and keeps its manifest.
func content(change func([]byte) []byte) func(hostileBundle) []catalog.BundlePart {
	return func(b hostileBundle) []catalog.BundlePart {
		b.data = change(bytes.Clone(b.data))
		return b.parts()
	}
}

// pathed gives the last file another path.
func pathed(path string) func(hostileBundle) []catalog.BundlePart {
	return manifested(func(m *catalog.Manifest) { m.Files[len(m.Files)-1].Path = path })
}

// bundleFaults break the order of the parts, the sizes and checksums, or the
// manifest. Paths try to leave the folder, to become options of a program, or
// to place one file below another.
var bundleFaults = []Fault{
	{Name: "bundle: nothing at all", Verb: "bundle", bundle: func(hostileBundle) []catalog.BundlePart { return nil }},
	{Name: "bundle: only the manifest", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart { return b.parts()[:1] }},
	{Name: "bundle: data first", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart { return b.parts()[1:] }},
	{Name: "bundle: two manifests", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart {
		return append(b.parts(), catalog.BundlePart{Manifest: &b.manifest})
	}},
	{Name: "bundle: an empty part", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart {
		return append(b.parts(), catalog.BundlePart{})
	}},
	{Name: "bundle: an empty piece", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart {
		return append(b.parts(), catalog.BundlePart{Data: []byte{}})
	}},
	{Name: "bundle: a piece too large", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart {
		return append(b.parts()[:1], catalog.BundlePart{Data: make([]byte, catalog.MaxBundleData+1)})
	}},
	{Name: "bundle: the last byte is missing", Verb: "bundle", bundle: content(func(d []byte) []byte { return d[:len(d)-1] })},
	{Name: "bundle: one byte too many", Verb: "bundle", bundle: content(func(d []byte) []byte { return append(d, '\n') })},
	{Name: "bundle: the first byte is changed", Verb: "bundle", bundle: content(func(d []byte) []byte { d[0] ^= 1; return d })},
	{Name: "bundle: the last byte is changed", Verb: "bundle", bundle: content(func(d []byte) []byte { d[len(d)-1] ^= 1; return d })},
	{Name: "bundle: a wrong checksum", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		m.Files[len(m.Files)-1].Sum = strings.Repeat("0", 64)
	})},
	{Name: "bundle: a checksum that is none", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files[0].Sum = "sum" })},
	{Name: "bundle: another slug", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Slug += "x" })},
	{Name: "bundle: another purpose", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Purpose = "remove" })},
	{Name: "bundle: another pin", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		m.Pin = catalog.Pin{{Repository: "a/b", Commit: strings.Repeat("0", 40)}}
	})},
	{Name: "bundle: a place out of the folder", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Place = "../../../etc" })},
	{Name: "bundle: a path out of the folder", Verb: "bundle", bundle: pathed("../z")},
	{Name: "bundle: a path out of the folder, in the middle", Verb: "bundle", bundle: pathed("zz/../../z")},
	{Name: "bundle: an absolute path", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files[0].Path = "/etc/passwd" })},
	{Name: "bundle: a path with NUL", Verb: "bundle", bundle: pathed("zz\x00z")},
	{Name: "bundle: a path with a line break", Verb: "bundle", bundle: pathed("zz\nz")},
	{Name: "bundle: a path with a backslash", Verb: "bundle", bundle: pathed(`zz\z`)},
	{Name: "bundle: a path that is an option", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files[0].Path = "-rf" })},
	{Name: "bundle: a path comes twice", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		m.Files[len(m.Files)-1].Path = m.Files[len(m.Files)-2].Path
	})},
	{Name: "bundle: a file is a folder too, as a link would be", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		m.Files[len(m.Files)-2].Path, m.Files[len(m.Files)-1].Path = "zz", "zz/z"
	})},
	{Name: "bundle: not sorted", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { slices.Reverse(m.Files) })},
	{Name: "bundle: a giant file", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files[0].Size = math.MaxInt64 })},
	{Name: "bundle: a negative size", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files[0].Size = -1 })},
	{Name: "bundle: more files than there may be", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		for len(m.Files) <= catalog.MaxBundleFiles {
			m.Files = append(m.Files, m.Files[0])
		}
	})},
	{Name: "bundle: no files", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files = nil })},
	{Name: "bundle: no origin", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		m.Files[0].Class, m.Files[0].Origin = catalog.OwnFile, ""
	})},
	{Name: "bundle: of no class", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) { m.Files[0].Class = "trusted" })},
	{Name: "bundle: an unpinned place in no file", Verb: "bundle", bundle: manifested(func(m *catalog.Manifest) {
		m.Unpinned = []catalog.Fetch{{File: "nowhere", Line: 1, Text: "curl"}}
	})},
	{Name: "bundle: a script is missing", Verb: "bundle", bundle: func(b hostileBundle) []catalog.BundlePart {
		last := len(b.manifest.Files) - 1
		b.data = b.data[:int64(len(b.data))-b.manifest.Files[last].Size] // the manifest still names it
		return b.parts()
	}},
}

// launchFaults try to run another program, to load code through the
// environment, to write files outside of the run's folder, or to run without a
// limit.
var launchFaults = []Fault{
	{Name: "launch: a program out of the bundle", Verb: "launch", launch: func(l *catalog.Launch) { l.Program = "../../../bin/sh" }},
	{Name: "launch: a program that is not there", Verb: "launch", launch: func(l *catalog.Launch) { l.Program = "nowhere.sh" }},
	{Name: "launch: another interpreter", Verb: "launch", launch: func(l *catalog.Launch) { l.Interpreter = "python3" }},
	{Name: "launch: loads a library", Verb: "launch", launch: variable("LD_PRELOAD")},
	{Name: "launch: loads a script", Verb: "launch", launch: variable("BASH_ENV")},
	{Name: "launch: sets PATH", Verb: "launch", launch: variable("PATH")},
	{Name: "launch: sets the run's folder", Verb: "launch", launch: variable(catalog.RunFolderVariable)},
	{Name: "launch: a variable that is none", Verb: "launch", launch: variable("A=b; rm")},
	{Name: "launch: a folder of PATH out of the bundle", Verb: "launch", launch: func(l *catalog.Launch) {
		l.PathFolders = []string{"../../../tmp"}
	}},
	{Name: "launch: prepares a job of cron", Verb: "launch", launch: prepared("/etc/cron.d/x")},
	{Name: "launch: prepares a program", Verb: "launch", launch: prepared("/usr/local/bin/tar")},
	{Name: "launch: prepares a way out", Verb: "launch", launch: prepared("/usr/local/../../etc/profile")},
	{Name: "launch: a sentinel out of its folder", Verb: "launch", launch: func(l *catalog.Launch) { l.Sentinel = "../x" }},
	{Name: "launch: a version out of everything", Verb: "launch", launch: func(l *catalog.Launch) { l.VersionFile = "/../x" }},
	{Name: "launch: no limit at all", Verb: "launch", launch: func(l *catalog.Launch) { l.Limit = math.MaxInt64 }},
	{Name: "launch: a progress that is none", Verb: "launch", launch: func(l *catalog.Launch) {
		l.Steps = []catalog.Step{{Text: "x", Progress: math.NaN()}}
	}},
	{Name: "launch: input without end", Verb: "launch", launch: func(l *catalog.Launch) {
		l.Input = strings.Repeat("y\n", catalog.MaxLaunchInput)
	}},
}

// variable adds an environment variable to a launch.
func variable(name string) func(*catalog.Launch) {
	return func(l *catalog.Launch) {
		l.Environment = append(l.Environment, catalog.Variable{Name: name, Value: "x"})
	}
}

// prepared adds a file that is written before a launch.
func prepared(path string) func(*catalog.Launch) {
	return func(l *catalog.Launch) { l.Prepare = append(l.Prepare, catalog.PreparedFile{Path: path}) }
}
