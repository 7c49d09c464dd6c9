package db

// NoteTimeline makes d believe that its server was on this timeline.
func NoteTimeline(d *DB, timeline string) { d.timeline.note(timeline) }

// Undone is undone.
var Undone = undone
