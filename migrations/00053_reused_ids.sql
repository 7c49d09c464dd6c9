-- +goose Up
-- Where guests have no lasting identity an id goes to another one once it is free.
-- The name of an app's container as it was last listed, by which that is known again when it was away; empty where it is not known.
ALTER TABLE apps ADD COLUMN guest_name text NOT NULL DEFAULT '';
UPDATE apps a SET guest_name = g.name FROM guests g WHERE g.id = a.guest_id;
-- A backup of a guest whose id another one was given since: it is that one's under no name.
ALTER TABLE backups ADD COLUMN superseded boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE apps DROP COLUMN guest_name;
ALTER TABLE backups DROP COLUMN superseded;
