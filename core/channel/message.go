package channel

import (
	"embed"
	"encoding/json"
	"fmt"
	htmltemplate "html/template"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hostler/hostler/core/notify"
)

// message is a delivery with its event, ready to be sent.
type message struct {
	delivery int64
	// id is the same for each attempt. begin is the ID of the message about the
	// start of the incident; "" if this is the start.
	id, begin string
	event     notify.Event
	at        time.Time
	// recipient is the email address of the only user whom the event concerns;
	// "" for the recipients of the channel.
	recipient string
	channel   *Channel
	base      string
	// audit is the entry of the audit log that the event reports, as JSON. It
	// is nil for other events, and if the entry was cleared.
	audit json.RawMessage
}

// messageColumns are the columns that scanMessage reads: of the delivery d, its
// event e, and the user u whom it concerns.
const messageColumns = `d.id, d.message_id, COALESCE((SELECT o.message_id::text FROM notification_deliveries o WHERE d.incident <> ''
	AND o.incident = d.incident AND o.channel_id = d.channel_id AND o.event_state = 'open' AND o.id <> d.id), ''),
	e.team_id, e.kind, e.incident, e.state, e.severity, e.rule, e.target_kind, e.target_id, e.target_name, e.tags, e.title, e.body, e.link,
		e.at,
	COALESCE(u.email, ''), ` + auditRow

// scanMessage reads one message that is due.
func scanMessage(row pgx.CollectableRow) (*message, error) {
	m := &message{}
	e := &m.event
	err := row.Scan(&m.delivery, &m.id, &m.begin, &e.TeamID, &e.Kind, &e.Incident, &e.State, &e.Severity, &e.Rule, &e.TargetKind, &e.TargetID,
		&e.TargetName, &e.Tags, &e.Title, &e.Body, &e.Link, &m.at, &m.recipient,
		&m.audit)
	m.at = m.at.UTC()
	return m, err
}

//go:embed templates
var templates embed.FS

var (
	texts = template.Must(template.ParseFS(templates, "templates/*.txt"))
	pages = htmltemplate.Must(htmltemplate.ParseFS(templates, "templates/*.html"))
)

// colours of severities, and of the end of an incident, as RGB.
var colours = map[string]int{"info": 0x2f6fde, "warning": 0xe0a100, "critical": 0xd22f2f, "resolved": 0x2e9e4f}

// tone returns the severity, or "resolved" for the end of an incident.
func (m *message) tone() string {
	if m.event.State == notify.Resolved {
		return "resolved"
	}
	return m.event.Severity
}

// title returns the title in one line, with the severity in brackets.
func (m *message) title() string {
	title := strings.Join(strings.Fields(m.event.Title), " ")
	switch {
	case m.event.State == notify.Resolved:
		return "[resolved] " + title
	case m.event.Severity == "info":
		return title
	}
	return "[" + m.event.Severity + "] " + title
}

// link returns the URL of the event in this service. Without a base URL it is
// only the path; "" if the event has no link.
func (m *message) link() string {
	if m.event.Link == "" {
		return ""
	}
	return m.base + m.event.Link
}

// url returns link if it is an absolute URL, otherwise "".
func (m *message) url() string {
	if m.base == "" {
		return ""
	}
	return m.link()
}

// shown has the values for the templates.
type shown struct {
	Title, Body, Tone, Colour, Kind, Target, Rule, At, Link, URL string
	Lines                                                        []string
	Tags                                                         []string
}

// shown returns the parts of a message for templates.
func (m *message) shown() shown {
	e := &m.event
	target := e.TargetName
	if target != "" && e.TargetKind != "" {
		target = e.TargetKind + " " + target
	}
	return shown{Title: m.title(), Body: e.Body, Tone: m.tone(), Colour: fmt.Sprintf("#%06x", colours[m.tone()]), Kind: string(e.Kind),
		Target: target, Rule: e.Rule, At: m.at.Format("2006-01-02 15:04:05 MST"), Link: m.link(), URL: m.url(), Tags: e.Tags,
		Lines: strings.Split(strings.TrimRight(e.Body, "\n"), "\n")}
}

// text returns the message without its title as plain text of at most that many
// characters. If the template fails, it returns the body of the event.
func (m *message) text(most int) string {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, "message.txt", m.shown()); err != nil {
		return m.event.Body // a template of ours that fails takes nothing away
	}
	return cut(strings.TrimSpace(b.String()), most)
}

// page returns the whole message as HTML.
func (m *message) page() (string, error) {
	var b strings.Builder
	err := pages.ExecuteTemplate(&b, "message.html", m.shown())
	return b.String(), err
}

// cut shortens a text to at most that many characters, the last one an
// ellipsis.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(most-1, 0)]) + "…"
}

// digestCount counts the events of a digest.
type digestCount struct{ all, critical, warning int }

// digestLine is one event in a digest.
type digestLine struct {
	severity, state, title string
	at                     time.Time
}

// digestText returns the title and the body of a digest.
func digestText(count digestCount, lines []digestLine) (title, body string) {
	title = fmt.Sprintf("%d more events", count.all)
	if count.all == 1 {
		title = "1 more event"
	}
	var told []string
	for _, part := range []struct {
		n    int
		word string
	}{{count.critical, "critical"}, {count.warning, "warning"}} {
		if part.n > 0 {
			told = append(told, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	if len(told) > 0 {
		title += ": " + strings.Join(told, ", ")
	}
	var b strings.Builder
	b.WriteString("They exceeded this channel's hourly limit, or ended before its quiet hours did:\n\n")
	for _, l := range lines {
		word := l.severity
		if l.state == string(notify.Resolved) {
			word = "resolved"
		}
		fmt.Fprintf(&b, "%s  [%s] %s\n", l.at.UTC().Format("15:04 MST"), word, cut(strings.Join(strings.Fields(l.title), " "), 120))
	}
	if more := count.all - len(lines); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return title, b.String()
}
