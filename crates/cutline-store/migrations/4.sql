-- Who may use a store over a network. The token itself is not stored.
CREATE TABLE cutline_tokens (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- SHA-256 of the token, in hexadecimal digits.
    hash TEXT NOT NULL UNIQUE,
    -- `viewer`, `worker` or `admin`.
    role TEXT NOT NULL,
    -- The names of the campaigns that it is for, as a JSON array; null for all.
    campaigns TEXT,
    created BIGINT NOT NULL,
    -- When it was revoked.
    revoked BIGINT
);
-- Requests that were carried out, so that a repetition is answered with their events and changes nothing. Written together with these
-- events.
CREATE TABLE cutline_requests (
    -- 0 for the beginning of a campaign.
    campaign BIGINT NOT NULL,
    key TEXT NOT NULL,
    -- By which another request with the same key is told apart.
    fingerprint TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- The number of its first event, and how many there are; of the beginning of a campaign, the number of the campaign and 0.
    first BIGINT NOT NULL,
    n_events BIGINT NOT NULL,
    PRIMARY KEY (campaign, key)
) {clustered};
-- Who caused events, in ranges of their numbers. The beginning of a campaign is number 0.
CREATE TABLE cutline_authors (
    campaign BIGINT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (campaign, first)
) {clustered};
