package feed

import (
	"context"
	"errors"
	"time"

	"github.com/hostler/hostler/core/db"
	"github.com/hostler/hostler/core/setting"
	"github.com/hostler/hostler/core/task"
)

// joining is a reader that waits for its place in the chain.
type joining struct {
	sight Filter
	// cursor is what the reader came with; nil for none, or for one that means nothing.
	cursor *cursor
	// reset is why the reader must load anew; empty while nothing is known against its cursor.
	reset string
	// done is closed when what follows is set: where to go on, what happened since the cursor, and where the reader is then.
	done   chan struct{}
	err    error
	at     *link
	missed *batch
	now    cursor
	// interval is how often hosts are polled, in seconds: readers judge by it whether figures are old.
	interval int
}

// pump reads the history for all readers of the instance, as long as there are
// any.
type pump struct {
	feed *Feed
	// at is what was published so far, in the form of PostgreSQL; empty before the first turn. origin is the history's.
	at, origin string
	// published is when the last batch was.
	published time.Time
	// watched is when it was last said that somebody looks at tasks.
	watched time.Time
}

// start starts the pump. The caller holds the feed's lock.
func (f *Feed) start() {
	if f.pumping || f.running.Err() != nil {
		return
	}
	f.pumping = true
	f.pumps.Go(func() {
		stop := f.DB.Listener().Listen(db.Subscriber{Channels: []string{channel},
			OnNotify: func(string, string) { f.rouse() }, OnReconnect: f.rouse})
		defer stop()
		p := &pump{feed: f}
		for p.turn() {
		}
	})
}

// turn waits for work and does it. It returns false if no reader is left.
func (p *pump) turn() bool {
	f := p.feed
	f.mu.Lock()
	if f.running.Err() != nil || f.readers == 0 && len(f.joining) == 0 {
		f.pumping = false
		f.refuse(errors.New("the feed is closed"))
		f.mu.Unlock()
		return false
	}
	eager := len(f.joining) > 0
	f.mu.Unlock()
	if !eager {
		look := time.NewTimer(lookAnyway)
		select {
		case <-f.wake:
		case <-look.C:
		case <-f.running.Done():
		}
		look.Stop()
		p.rest(pace - time.Since(p.published))
	}
	for wait := retryFirst; f.running.Err() == nil; wait = min(2*wait, retryMost) {
		ctx, cancel := context.WithTimeout(f.running, stepLimit)
		err := p.step(ctx)
		cancel()
		if err == nil {
			break
		}
		if f.running.Err() == nil {
			f.Logger.Warn("could not read the changes; trying again", "error", err)
		}
		p.rest(wait)
	}
	return true
}

// rest waits, unless the feed is closed or somebody joins.
func (p *pump) rest(d time.Duration) {
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-p.feed.running.Done():
			timer.Stop()
			return
		case <-p.feed.wake: // a notification, of which this turn hears anyway, or somebody who joins
			p.feed.mu.Lock()
			joins := len(p.feed.joining) > 0
			p.feed.mu.Unlock()
			if joins {
				timer.Stop()
				return
			}
		}
		timer.Stop()
	}
}

// refuse ends the wait of all joining readers. The caller holds the feed's
// lock.
func (f *Feed) refuse(err error) {
	for _, j := range f.joining {
		j.err = err
		close(j.done)
	}
	f.joining = nil
}

// step publishes what is new and admits joining readers. It reads everything in
// one order: what a reader gets first was read first.
func (p *pump) step(ctx context.Context) (err error) {
	f := p.feed
	f.mu.Lock()
	joins, wantFigures, wantTasks := f.joining, f.figures > 0, f.tasks > 0
	f.joining = nil
	f.mu.Unlock()
	defer func() {
		if err != nil { // rather an answer now than a reader that hangs
			f.mu.Lock()
			f.joining = append(joins, f.joining...)
			f.refuse(err)
			f.mu.Unlock()
		}
	}()
	if wantTasks && time.Since(p.watched) > watching/3 {
		if err := (&task.Store{DB: f.DB}).Watch(ctx, watching); err != nil {
			return err
		}
		p.watched = time.Now()
	}
	if err := p.tellInterval(ctx, joins); err != nil {
		return err
	}
	n, err := f.read(ctx, p.at)
	if err == nil && n.copied {
		if err = f.adopt(ctx); err == nil {
			n, err = f.read(ctx, "")
			n.copied = true
		}
	}
	if err != nil {
		return err
	}
	live := &batch{origin: n.origin, at: n.at}
	groups, err := p.missed(ctx, joins, n)
	if err != nil {
		return err
	}
	folded := []changes{fold(n.rows)}
	for _, g := range groups {
		folded = append(folded, g.changes)
	}
	found, err := f.hydrate(ctx, folded, wantFigures)
	if err != nil {
		return err
	}
	if p.origin != "" && (p.origin != n.origin || n.copied) {
		live.reset = ResetUnknown
	} else if err := f.fill(live, folded[0], found, n.version); err != nil {
		return err
	}
	for _, g := range groups {
		g.batch = &batch{origin: n.origin, at: n.at}
		if err := f.fill(g.batch, g.changes, found, n.version); err != nil {
			return err
		}
		for _, j := range g.joins {
			j.missed = g.batch
		}
	}
	p.at, p.origin = n.at.text, n.origin
	p.publish(live, joins)
	return nil
}

// tellInterval reads the interval of polls once for all joining readers.
func (p *pump) tellInterval(ctx context.Context, joins []*joining) error {
	if len(joins) == 0 {
		return nil
	}
	interval, err := setting.Get(ctx, p.feed.DB, setting.PollInterval)
	if err != nil {
		return err
	}
	for _, j := range joins {
		j.interval = interval
	}
	return nil
}

// fill builds the items of a batch.
func (f *Feed) fill(b *batch, c changes, found objects, version int64) (err error) {
	if b.scopes = c.scopes; c.many {
		b.reset = ResetTooMany
		return nil
	}
	b.items, err = f.items(c, found, version)
	return err
}

// publish passes the batch to all readers, and puts the new ones behind it.
func (p *pump) publish(live *batch, joins []*joining) {
	f := p.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(live.items) > 0 || len(live.scopes) > 0 || live.reset != "" || time.Since(p.published) > refresh {
		full := f.tail
		full.batch, full.next = live, &link{ready: make(chan struct{})}
		f.tail = full.next
		p.published = time.Now()
		close(full.ready)
	}
	for _, j := range joins {
		j.at, j.now = f.tail, cursor{live.origin, j.sight.digest(), live.at}
		close(j.done)
	}
}

// group is the set of readers that come with the same cursor. What they missed
// is computed once.
type group struct {
	joins   []*joining
	changes changes
	batch   *batch
}

// missed reads what readers with a cursor have missed, in one statement for all
// of them. It also decides which cursors are invalid.
func (p *pump) missed(ctx context.Context, joins []*joining, n news) (map[string]*group, error) {
	groups := map[string]*group{}
	at := map[string]position{}
	first := uint64(0)
	for _, j := range joins {
		if j.cursor == nil {
			continue
		}
		switch c := j.cursor; {
		case c.origin != n.origin || c.at.max > n.at.max:
			j.reset = ResetUnknown
		case c.sight != j.sight.digest():
			j.reset = ResetRights
		case c.at.min < n.floor:
			j.reset = ResetExpired
		default:
			g := groups[c.at.text]
			if g == nil {
				g = &group{}
				groups[c.at.text], at[c.at.text] = g, c.at
			}
			g.joins = append(g.joins, j)
			if first == 0 || c.at.min < first {
				first = c.at.min
			}
		}
	}
	if len(groups) == 0 {
		return groups, nil
	}
	rows, err := p.feed.since(ctx, first)
	if err != nil {
		return nil, err
	}
	for text, g := range groups {
		if len(rows) > mostRows { // which of them are new to this one is not known
			g.changes = changes{many: true}
			continue
		}
		var own []row
		for i := range rows {
			if n.at.saw(rows[i].xid) && !at[text].saw(rows[i].xid) {
				own = append(own, rows[i])
			}
		}
		g.changes = fold(own)
	}
	return groups, nil
}
