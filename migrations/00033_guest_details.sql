-- +goose Up
-- What was last read of a guest's configuration: its NICs and where its disks are. No list of the hypervisor brings them, so each guest
-- is read by itself, now and then.
CREATE TABLE guest_details (
    guest_id bigint PRIMARY KEY REFERENCES guests ON DELETE CASCADE,
    -- When the reading began; null while none has succeeded.
    as_of    timestamptz,
    -- When a job last did something that may have changed it.
    stale_at timestamptz,
    -- What the inventory said of the guest then: it is read anew before its time where that is another.
    ident    text NOT NULL DEFAULT '',
    tried_at timestamptz
);

CREATE TABLE guest_nics (
    guest_id bigint NOT NULL REFERENCES guests ON DELETE CASCADE,
    key      text NOT NULL,
    bridge   text NOT NULL,
    vlan     bigint,
    mac      text NOT NULL,
    PRIMARY KEY (guest_id, key)
);

CREATE TABLE guest_volumes (
    guest_id  bigint NOT NULL REFERENCES guests ON DELETE CASCADE,
    key       text NOT NULL,
    storage   text NOT NULL,
    volume    text NOT NULL,
    size_gb   bigint,
    removable boolean NOT NULL,
    PRIMARY KEY (guest_id, key)
);
CREATE INDEX guest_volumes_storage ON guest_volumes (storage);

-- When the next configuration of a guest of the cluster may be read: the budget of all instances together.
ALTER TABLE clusters ADD COLUMN next_detail_at timestamptz NOT NULL DEFAULT now();

-- +goose Down
ALTER TABLE clusters DROP COLUMN next_detail_at;
DROP TABLE guest_volumes, guest_nics, guest_details;
