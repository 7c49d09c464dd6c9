-- +goose Up
-- The files of bundles, each once however many bundles have it. PostgreSQL compresses them.
CREATE TABLE bundle_files (
    sum  text PRIMARY KEY,
    data bytea NOT NULL
);

-- Bundles by their own checksum, which is over their files and nothing else.
CREATE TABLE bundles (
    sum        text PRIMARY KEY,
    place      text NOT NULL,
    size       bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When it was last asked for: what nothing refers to goes some time after that.
    used_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE bundle_contents (
    bundle text NOT NULL REFERENCES bundles ON DELETE CASCADE,
    file   text NOT NULL REFERENCES bundle_files,
    PRIMARY KEY (bundle, file)
);
CREATE INDEX bundle_contents_file ON bundle_contents (file);

-- What a source said of a bundle at a pin. Several may have the same files.
CREATE TABLE bundle_manifests (
    source   text NOT NULL,
    slug     text NOT NULL,
    purpose  text NOT NULL,
    pin      text NOT NULL,
    bundle   text NOT NULL REFERENCES bundles ON DELETE CASCADE,
    manifest json NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, slug, purpose, pin)
);
CREATE INDEX bundle_manifests_bundle ON bundle_manifests (bundle);

-- Who has agreed that a bundle may run as root on a host. Rows are added and never changed; what they are about may go.
CREATE TABLE consents (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host_id      bigint REFERENCES hosts ON DELETE SET NULL,
    host_name    text NOT NULL,
    source       text NOT NULL,
    slug         text NOT NULL,
    purpose      text NOT NULL,
    bundle       text NOT NULL,
    pin          text NOT NULL,
    -- Which release of the text was shown.
    text_version integer NOT NULL,
    actor_id     bigint REFERENCES users ON DELETE SET NULL,
    actor_email  text NOT NULL,
    given_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX consents_host ON consents (host_id, source, slug, id DESC);
CREATE INDEX consents_bundle ON consents (bundle);
CREATE INDEX consents_actor ON consents (actor_id) WHERE actor_id IS NOT NULL;

-- +goose Down
DROP TABLE consents, bundle_manifests, bundle_contents, bundles, bundle_files;
