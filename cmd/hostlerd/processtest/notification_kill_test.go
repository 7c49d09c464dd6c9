package processtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/db/dbtest"
	"github.com/hostler/hostler/internal/waittest"
)

// inbox is a receiver of notifications.
type inbox struct {
	*httptest.Server
	mu sync.Mutex
	// matters are those of what has arrived, in order, and ids the messages' own, where the protocol has one.
	matters, ids []string
	// holds says that requests are taken and not answered, of which there are underway now, and refuses that they are refused; how many
	// were is in refused.
	holds, refuses    bool
	underway, refused int
}

// matter is what a title is about, however a kind of channel puts it.
var matter = regexp.MustCompile(`matter (\d+) (open|resolved)`)

func newInbox(t *testing.T, edit func(*inbox)) *inbox {
	t.Helper()
	b := &inbox{}
	if edit != nil {
		edit(b)
	}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Title string }
		text, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(text, &body) != nil { // it broke off before it was whole
			return
		}
		b.mu.Lock()
		if b.refuses {
			b.refused++
			b.mu.Unlock()
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		if about := matter.FindString(body.Title); about != "" {
			b.matters, b.ids = append(b.matters, about), append(b.ids, r.Header.Get("Webhook-Id"))
		}
		holds := b.holds
		if holds {
			b.underway++
		}
		b.mu.Unlock()
		if holds {
			<-r.Context().Done()
			b.is(func(b *inbox) { b.underway-- })
		}
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *inbox) is(edit func(*inbox)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	edit(b)
}

// has gives what a look at the receiver says.
func (b *inbox) has(look func(*inbox) bool) (yes bool) {
	b.is(func(b *inbox) { yes = look(b) })
	return yes
}

// happens writes matters that begin, or end, as what finds them does.
func happens(t *testing.T, d *db.DB, state string, from, to int) {
	t.Helper()
	alter(t, d, `INSERT INTO notification_events (team_id, kind, incident, state, severity, target_kind, target_id, target_name, title)
		SELECT 1, 'alert', 'alert:' || n, $1, 'warning', 'vm', n, 'vm' || n, 'matter ' || n || ' ' || $1
		FROM generate_series($2::bigint, $3::bigint) n`, state, from, to)
}

// The whole service is killed again and again while it tells several receivers, with messages under way, refused and not begun. Each
// receiver gets all of them, in the order of each matter; twice comes at most what was under way at a kill, under the same id where the
// protocol has one.
func TestNotificationsThroughKills(t *testing.T) {
	t.Parallel()
	s := startService(t, options{})
	owner := setUp(t, s)
	d := dbtest.Open(t, s.DB)
	quick, slow := newInbox(t, nil), newInbox(t, func(b *inbox) { b.holds = true })
	away, plain := newInbox(t, func(b *inbox) { b.refuses = true }), newInbox(t, nil)
	boxes := map[string]*inbox{"quick": quick, "slow": slow, "away": away, "plain": plain}
	for name, to := range map[string]map[string]any{
		"quick": {"kind": "webhook", "settings": map[string]any{"url": quick.URL}},
		"slow":  {"kind": "webhook", "settings": map[string]any{"url": slow.URL}},
		"away":  {"kind": "ntfy", "settings": map[string]any{"url": away.URL, "topic": "alerts"}},
		"plain": {"kind": "gotify", "settings": map[string]any{"url": plain.URL}, "secrets": map[string]any{"token": "app-token"}},
	} {
		to["name"], to["allow_private"], to["hourly_cap"] = name, true, 1000
		owner.must(t, http.StatusCreated, http.MethodPost, "/api/v1/notification-channels", to, nil)
	}
	const matters, kills = 40, 3
	states := func(where string) int {
		return number(t, d, "SELECT count(*) FROM notification_deliveries WHERE incident LIKE 'alert:%' AND "+where)
	}
	// leased lets the lease of the killed service end, as time would.
	leased := func() { alter(t, d, "UPDATE notification_queues SET leased_until = now(), next_at = now()") }

	for kill := range kills {
		got := 0
		quick.is(func(b *inbox) { got = len(b.matters) })
		happens(t, d, "open", kill*matters+1, kill*matters+matters)
		waittest.Until(t, "a message is under way, one was refused and some have arrived", func() bool {
			return slow.has(func(b *inbox) bool { return b.underway > 0 }) && away.has(func(b *inbox) bool { return b.refused > kill }) &&
				quick.has(func(b *inbox) bool { return len(b.matters) > got })
		})
		s.kill()
		if kill > 0 { // what has happened while nobody was there, and ends what was told before
			happens(t, d, "resolved", (kill-1)*matters+1, (kill-1)*matters+matters)
		}
		leased()
		s.start(t)
	}
	slow.is(func(b *inbox) { b.holds = false })
	away.is(func(b *inbox) { b.refuses = false })
	slow.CloseClientConnections()
	const all = kills*matters + (kills-1)*matters
	waittest.Until(t, "all is told", func() bool {
		alter(t, d, "UPDATE notification_queues SET next_at = now() WHERE next_at > now()") // nobody waits for that here
		return states("state = 'sent'") == all*len(boxes)
	})
	if n := states("state <> 'sent'"); n != 0 {
		t.Errorf("%d deliveries are in another state", n)
	}
	for name, b := range boxes {
		b.is(func(b *inbox) {
			times, ids := map[string]int{}, map[string]map[string]bool{}
			for i, about := range b.matters {
				times[about]++
				if ids[about] == nil {
					ids[about] = map[string]bool{}
				}
				ids[about][b.ids[i]] = true
				if begun, is := strings.CutSuffix(about, "resolved"); is && times[begun+"open"] == 0 {
					t.Errorf("%s: the end of %scame before its beginning", name, begun)
				}
			}
			if len(times) != all {
				t.Errorf("%s: %d messages arrived of %d", name, len(times), all)
			}
			for about, of := range ids {
				if len(of) != 1 {
					t.Errorf("%s: %s arrived under %d ids", name, about, len(of))
				}
			}
			switch again := len(b.matters) - all; {
			case name != "slow" && again > kills: // one at a time is under way
				t.Errorf("%s: %d messages arrived twice at %d kills", name, again, kills)
			case name == "slow" && again < kills: // and more where the service waits for as long as a message may take
				t.Errorf("%d messages arrived anew that were under way at %d kills", again, kills)
			}
		})
	}
}
