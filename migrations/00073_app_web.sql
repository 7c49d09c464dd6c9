-- +goose Up
-- The address that the script which installed the app printed last, such as http://192.0.2.5:8080/admin; null for apps without one.
ALTER TABLE apps ADD COLUMN printed_url text CHECK (octet_length(printed_url) <= 2000);

-- +goose Down
ALTER TABLE apps DROP COLUMN printed_url;
