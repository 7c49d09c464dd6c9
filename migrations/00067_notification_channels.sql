-- +goose Up
-- Where people are told, and what of it.
CREATE TABLE notification_channels (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- What a team's channel tells is that team's; one of the default team tells of all. It goes with its team: nobody else is to be told
    -- there what happens.
    team_id       bigint NOT NULL REFERENCES teams ON DELETE CASCADE,
    name          text NOT NULL,
    kind          text NOT NULL,
    enabled       boolean NOT NULL DEFAULT true,
    settings      jsonb NOT NULL DEFAULT '{}',
    -- JSON by name, sealed by core/secret, bound to this table, column and row; null for none. Their names are told.
    secrets       bytea,
    secrets_set   text[] NOT NULL DEFAULT '{}',
    -- It may be in a private network.
    allow_private boolean NOT NULL DEFAULT false,
    -- The instance's own mail, which tells users of their own accounts.
    account_mail  boolean NOT NULL DEFAULT false,
    hourly_cap    integer NOT NULL,
    -- Null for none.
    quiet         jsonb,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notification_channels_team ON notification_channels (team_id);
CREATE UNIQUE INDEX notification_channels_account_mail ON notification_channels (account_mail) WHERE account_mail;

-- A channel tells what any of its routes lets through, and everything where it has none. An empty list lets all through.
CREATE TABLE notification_routes (
    channel_id bigint NOT NULL REFERENCES notification_channels ON DELETE CASCADE,
    position   integer NOT NULL,
    -- The least severity.
    severity   text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    kinds      text[] NOT NULL DEFAULT '{}',
    teams      bigint[] NOT NULL DEFAULT '{}',
    tags       text[] NOT NULL DEFAULT '{}',
    rules      text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (channel_id, position)
);

-- How a channel does. One instance at a time serves it, for as long as its lease lasts.
CREATE TABLE notification_queues (
    channel_id   bigint PRIMARY KEY REFERENCES notification_channels ON DELETE CASCADE,
    lease        text NOT NULL DEFAULT '',
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    served_at    timestamptz NOT NULL DEFAULT '-infinity',
    -- Since the last success, and when it is tried again.
    failures     integer NOT NULL DEFAULT 0,
    next_at      timestamptz NOT NULL DEFAULT now(),
    ok_at        timestamptz,
    error        text NOT NULL DEFAULT '',
    error_at     timestamptz
) WITH (fillfactor = 50); -- it changes with every message that is sent

-- What became of each event at each channel.
CREATE TABLE notification_deliveries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel_id  bigint NOT NULL REFERENCES notification_channels ON DELETE CASCADE,
    event_id    bigint NOT NULL REFERENCES notification_events ON DELETE CASCADE,
    -- The receiver knows by it what it has had already.
    message_id  uuid NOT NULL DEFAULT gen_random_uuid(),
    incident    text NOT NULL DEFAULT '',
    event_state text NOT NULL,
    critical    boolean NOT NULL DEFAULT false,
    -- It waits for no quiet hours and counts for no cap: a test, a digest, what concerns one account.
    exempt      boolean NOT NULL DEFAULT false,
    -- folded: told by the digest. skipped: its beginning was not told, and so its end is not.
    state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'held', 'folded', 'sent', 'failed', 'skipped')),
    -- quiet or cap, and when it is looked at again.
    held_for    text NOT NULL DEFAULT '',
    held_until  timestamptz,
    digest_id   bigint REFERENCES notification_deliveries ON DELETE SET NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    -- Since when it could have been sent: its age is counted from here.
    due_at      timestamptz NOT NULL DEFAULT now(),
    attempts    integer NOT NULL DEFAULT 0,
    tried_at    timestamptz,
    done_at     timestamptz,
    error       text NOT NULL DEFAULT ''
);
CREATE INDEX notification_deliveries_waiting ON notification_deliveries (channel_id, id) WHERE state IN ('pending', 'held');
CREATE INDEX notification_deliveries_sent ON notification_deliveries (channel_id, done_at) WHERE state = 'sent';
CREATE INDEX notification_deliveries_channel ON notification_deliveries (channel_id, id DESC);
CREATE INDEX notification_deliveries_event ON notification_deliveries (event_id);
CREATE INDEX notification_deliveries_digest ON notification_deliveries (digest_id) WHERE digest_id IS NOT NULL;
-- One message for the beginning of a matter and one for its end.
CREATE UNIQUE INDEX notification_deliveries_incident ON notification_deliveries (incident, channel_id, event_state) WHERE incident <> '';

-- When it was decided who is told.
ALTER TABLE notification_events ADD COLUMN routed_at timestamptz;
CREATE INDEX notification_events_unrouted ON notification_events (id) WHERE routed_at IS NULL;
CREATE INDEX notification_events_user ON notification_events (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX notification_events_team ON notification_events (team_id);

-- When a report that comes by the clock was last written, so that one instance writes it.
CREATE TABLE notification_reports (
    kind       text PRIMARY KEY,
    written_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO notification_reports (kind) VALUES ('backup_report');

-- +goose Down
DROP TABLE notification_reports;
DROP INDEX notification_events_unrouted, notification_events_user, notification_events_team;
ALTER TABLE notification_events DROP COLUMN routed_at;
DROP TABLE notification_deliveries, notification_queues, notification_routes, notification_channels;
