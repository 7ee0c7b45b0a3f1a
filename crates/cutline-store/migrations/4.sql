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
-- What the webhooks of a campaign were told so far. Written together with the deliveries that follow from it.
CREATE TABLE cutline_watches (
    campaign BIGINT PRIMARY KEY,
    -- Goes up with every change, so that of two servers that notice the same thing one writes it.
    version BIGINT NOT NULL,
    -- How the campaign stood when it was looked at last, as JSON.
    noticed TEXT NOT NULL,
    -- How many webhooks the campaign has ever had: numbers are not used again.
    n_webhooks BIGINT NOT NULL
);
-- URLs that are told what happens to a campaign.
CREATE TABLE cutline_webhooks (
    campaign BIGINT NOT NULL,
    id BIGINT NOT NULL,
    url TEXT NOT NULL,
    -- By which deliveries are signed, so it cannot be a hash.
    secret TEXT NOT NULL,
    -- What it is told, as a JSON array of `ended`, `decided`, `misfit` and `silent`.
    events TEXT NOT NULL,
    -- The milliseconds without a reward after which it is told so.
    silence BIGINT,
    created BIGINT NOT NULL,
    author TEXT,
    -- Why nothing is sent to it any more.
    turned_off TEXT,
    -- How many deliveries it has ever had.
    n_deliveries BIGINT NOT NULL,
    PRIMARY KEY (campaign, id)
) {clustered};
-- What was sent or is to be sent to webhooks.
CREATE TABLE cutline_deliveries (
    campaign BIGINT NOT NULL,
    webhook BIGINT NOT NULL,
    -- From 1.
    number BIGINT NOT NULL,
    -- By which the receiver recognises a repetition.
    id TEXT NOT NULL,
    event TEXT NOT NULL,
    payload TEXT NOT NULL,
    created BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    -- When to send it; null once it is delivered or given up. A server that sends it sets this to when another one may send it again.
    next_attempt BIGINT,
    -- The status code of the last answer, and what went wrong.
    status BIGINT,
    error TEXT,
    delivered BIGINT,
    PRIMARY KEY (campaign, webhook, number)
) {clustered};
CREATE INDEX cutline_deliveries_due ON cutline_deliveries (next_attempt) WHERE next_attempt IS NOT NULL;
