-- +goose Up
-- The sources of the catalog that an owner has looked at, each under the name of the plugin's service that it is. A source without a row
-- is off.
CREATE TABLE catalog_sources (
    name          text PRIMARY KEY,
    enabled       boolean NOT NULL DEFAULT false,
    -- Addresses of private networks may be dialled.
    allow_private boolean NOT NULL DEFAULT false,
    -- A third party is asked how much people install what.
    popularity    boolean NOT NULL DEFAULT false,
    -- JSON by key, sealed by core/secret, bound to this table, column and row; null for none.
    options       bytea,
    -- Another one with each change of the configuration: a sync that began under another one is not taken.
    version       bigint NOT NULL DEFAULT 1,
    -- SHA-256 of the statement of trust that was read when it was switched on, and who read it.
    trust_digest  text NOT NULL DEFAULT '',
    trusted_by    bigint REFERENCES users ON DELETE SET NULL,
    trusted_email text NOT NULL DEFAULT '',
    trusted_at    timestamptz,
    -- What the last sync that was taken left.
    title         text NOT NULL DEFAULT '',
    cursor        text NOT NULL DEFAULT '',
    pin           text NOT NULL DEFAULT '',
    digest        text NOT NULL DEFAULT '',
    categories    json NOT NULL DEFAULT '[]',
    synced_at     timestamptz,
    changed_at    timestamptz,
    tried_at      timestamptz,
    -- The last failure, and how many there were since the last success.
    failure       text NOT NULL DEFAULT '',
    failure_kind  text NOT NULL DEFAULT '',
    failed_at     timestamptz,
    failures      integer NOT NULL DEFAULT 0,
    -- A loss that waits for an owner: the slugs that would go, of how many, at which pin. And what an owner has accepted.
    held          text[] NOT NULL DEFAULT '{}',
    held_of       integer NOT NULL DEFAULT 0,
    held_pin      text NOT NULL DEFAULT '',
    held_at       timestamptz,
    accepted      text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX catalog_sources_trusted_by ON catalog_sources (trusted_by) WHERE trusted_by IS NOT NULL;

-- What can be installed, or could once, as the last sync of its source told.
CREATE TABLE catalog_entries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source      text NOT NULL REFERENCES catalog_sources ON DELETE CASCADE,
    slug        text NOT NULL,
    -- How users name it: no source can take the name of another one's entry.
    path        text NOT NULL UNIQUE,
    digest      text NOT NULL,
    entry_type  text NOT NULL,
    name        text NOT NULL,
    summary     text NOT NULL,
    categories  text[] NOT NULL,
    tags        text[] NOT NULL,
    created_at  timestamptz,
    updated_at  timestamptz,
    installable boolean NOT NULL,
    variant_of  text NOT NULL,
    icon        text NOT NULL,
    popularity  double precision,
    -- What a search looks through, in lower case: name and slug, then all else behind a line break.
    words       text NOT NULL,
    -- All that the source says of it.
    entry       json NOT NULL,
    UNIQUE (source, slug)
);

-- Pictures by the name of their file: the SHA-256 of their bytes and what these are. They are compressed already.
CREATE TABLE catalog_icons (
    name text PRIMARY KEY,
    data bytea NOT NULL
);
ALTER TABLE catalog_icons ALTER COLUMN data SET STORAGE EXTERNAL;

-- Where a source says that pictures are, and what was found there.
CREATE TABLE catalog_icon_references (
    source     text NOT NULL REFERENCES catalog_sources ON DELETE CASCADE,
    reference  text NOT NULL,
    icon       text REFERENCES catalog_icons ON DELETE SET NULL,
    etag       text NOT NULL DEFAULT '',
    checked_at timestamptz,
    next_at    timestamptz NOT NULL DEFAULT now(),
    failures   integer NOT NULL DEFAULT 0,
    failure    text NOT NULL DEFAULT '',
    PRIMARY KEY (source, reference)
);
CREATE INDEX catalog_icon_references_icon ON catalog_icon_references (icon) WHERE icon IS NOT NULL;

INSERT INTO schedules (name, cron, job_kind, seeded) VALUES ('Refresh the catalog', '35 4 * * *', 'catalog.refresh', true);

-- +goose Down
DELETE FROM schedules WHERE seeded AND job_kind = 'catalog.refresh';
DROP TABLE catalog_icon_references, catalog_icons, catalog_entries, catalog_sources;
