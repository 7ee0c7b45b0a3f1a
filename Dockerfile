# The program `cutline` in a small image, run by a user without rights. docs/operations.md says how to use it.
FROM docker.io/library/rust:1.95-slim-trixie AS build
WORKDIR /cutline
# SQLite and zstd are compiled from source.
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cargo build --release --locked --package cutline-cli --bin cutline && strip target/release/cutline

FROM docker.io/library/debian:trixie-slim
RUN useradd --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin cutline
COPY --from=build /cutline/target/release/cutline /usr/local/bin/cutline
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Without a token in the store, or a token file, it refuses to serve others.
ENTRYPOINT ["cutline"]
CMD ["serve", "/data/cutline.db", "--bind", "0.0.0.0:8080", "--token-file", "/data/admin.token"]
