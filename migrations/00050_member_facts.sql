-- +goose Up
-- When the certificate ends that the host last showed, and when it last told its release; null before it did.
ALTER TABLE hosts ADD COLUMN certificate_ends_at timestamptz, ADD COLUMN version_at timestamptz;

-- When the credential ends at the hypervisor, null for never, and when the hypervisor last said so; null where it does not.
ALTER TABLE host_credentials ADD COLUMN ends_at timestamptz, ADD COLUMN ends_told_at timestamptz;

-- Since when quorum is there or lost, and since when a node has its status, as far as polls have seen the change.
ALTER TABLE clusters ADD COLUMN quorate_since timestamptz;
ALTER TABLE nodes ADD COLUMN status_since timestamptz;

-- What each member of a cluster is asked for once a day: its release, the end of its certificate and the state of its subscription, in
-- the hypervisor's words; empty and null where it does not tell. facts_at is when that was told, and facts_tried_at when it was last
-- asked for.
ALTER TABLE nodes ADD COLUMN version text NOT NULL DEFAULT '', ADD COLUMN certificate_ends_at timestamptz,
    ADD COLUMN subscription text NOT NULL DEFAULT '', ADD COLUMN subscription_due text NOT NULL DEFAULT '',
    ADD COLUMN facts_at timestamptz, ADD COLUMN facts_tried_at timestamptz;

-- +goose Down
ALTER TABLE nodes DROP COLUMN version, DROP COLUMN certificate_ends_at, DROP COLUMN subscription, DROP COLUMN subscription_due,
    DROP COLUMN facts_at, DROP COLUMN facts_tried_at, DROP COLUMN status_since;
ALTER TABLE clusters DROP COLUMN quorate_since;
ALTER TABLE host_credentials DROP COLUMN ends_at, DROP COLUMN ends_told_at;
ALTER TABLE hosts DROP COLUMN certificate_ends_at, DROP COLUMN version_at;
