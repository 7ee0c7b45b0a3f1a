//! Passwords are found where PostgreSQL's own programs look for them, and are never printed.

#![cfg(unix)]

use crate::stored::{Place, PrivateServer};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// stdout and stderr of `cutline`, with a home directory and without PostgreSQL's variables in its environment, and its exit code.
fn cutline(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command: Command = place.command(env!("CARGO_BIN_EXE_cutline"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PG")) {
        command.env_remove(name);
    }
    let output = command.args(args).env("HOME", place.path("")).envs(variables.iter().copied()).output().unwrap();
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(!printed.contains("SECRET") && !printed.contains("SE?C"), "{args:?}: {printed}");
    (output.status.code(), printed)
}

/// Addresses with a password, of a server that refuses connections, wherever a store or a file is expected.
#[test]
fn no_message_has_a_password() {
    let place = Place::sqlite();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    let addresses = [
        "postgresql://me:SECRET@127.0.0.1:1/db",
        "postgresql://me:SE?C@127.0.0.1:1/db",
        "postgresql://me:a@SECRET@127.0.0.1:1/db",
        "postgresql://me:%53ECRET@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password=SECRET",
        "postgresql://127.0.0.1:1/db?user=me&password=SECRET&sslmode=disable",
        "postgresql://me:a/SECRET@127.0.0.1:1/db",
        "postgresql://me:SECRET@127.0.0.1:x/db",
        "postgresql://me@127.0.0.1:1/db?pasword=SECRET",
        "postgresql://127.0.0.1:1?password=a@SECRET",
        "host=127.0.0.1 port=1 user=me password=SECRET",
        "host=127.0.0.1 port=1 user=me password='SECRET",
        "port=1 hots=127.0.0.1 password=SECRET",
        "postgresql:/me:SECRET@127.0.0.1:1/db",
        "jdbc:postgresql://127.0.0.1:1/db?password=SECRET",
        " postgresql://me:SECRET@127.0.0.1:1/db",
        "mysql://me:SECRET@127.0.0.1:1/db",
    ];
    for address in addresses {
        let to = format!("--to={address}");
        let commands: [&[&str]; 8] = [
            &["new", address, "arms.csv", "--threshold", "0.5", "--budget", "9"],
            &["new", "other.db", address, "--threshold", "0.5", "--budget", "9"],
            &["ask", address],
            &["status", address, "--format", "json"],
            &["plan", address],
            &["diagnose", address],
            &["run", address, "--measure", "echo 1"],
            &["copy", "screen.db", "new", &to],
        ];
        for args in commands {
            let (code, printed) = cutline(&place, args, &[]);
            assert!(matches!(code, Some(1 | 2)), "{args:?}: {code:?} {printed}");
            assert!(printed.contains("error: "), "{args:?}: {printed}");
        }
    }
    let names: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let stray = names.iter().filter(|name| name.to_str().unwrap().contains("127.0.0.1")).collect::<Vec<_>>();
    assert!(stray.is_empty(), "{stray:?} became files");
}

/// A server that asks for a password.
#[test]
fn a_password_is_found_as_by_psql() {
    let server = PrivateServer::start();
    let setup = "CREATE ROLE me LOGIN SUPERUSER PASSWORD 'SECRET'; \
                 COPY (SELECT 'host all cutline all trust' UNION ALL SELECT 'host all all all scram-sha-256') TO PROGRAM 'cat > pg_hba.conf'; \
                 SELECT pg_reload_conf()";
    server.client().batch_execute(setup).unwrap();
    let (host, port) = server.address.rsplit_once('@').unwrap().1.split_once(':').unwrap();
    let place = Place::sqlite();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    let address = format!("postgresql://me@{host}:{port}/postgres");
    let new = |variables: &[(&str, &str)], address: &str, name: &str| {
        let args = ["new", address, "arms.csv", "--threshold", "0.5", "--budget", "9", "--name", name];
        cutline(&place, &args, variables)
    };
    let (code, printed) = new(&[], &address, "none");
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("the server asks for a password; give it in a password file or with PGPASSWORD"),
        "{printed}"
    );
    let (code, printed) = new(&[("PGPASSWORD", "wrong")], &address, "none");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("password authentication failed for user \"me\""), "{printed}");
    assert_eq!(new(&[("PGPASSWORD", "SECRET")], &address, "by variable").0, Some(0));
    assert_eq!(new(&[], &format!("{address}?password=SECRET"), "by parameter").0, Some(0));
    let pairs = format!("host={host} port={port} user=me password=SECRET dbname=postgres");
    let (code, printed) = new(&[], &pairs, "by pairs");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("next: cutline ask STORE --name 'by pairs'"), "{printed}");

    place.write(".pgpass", &format!("# mine\nelsewhere:*:*:*:no\n{host}:{port}:*:me:SECRET\n"));
    std::fs::set_permissions(place.path(".pgpass"), Permissions::from_mode(0o644)).unwrap();
    let (code, printed) = new(&[], &address, "by file");
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains(".pgpass was not used, because other users can read it: run `chmod 600"), "{printed}");
    std::fs::set_permissions(place.path(".pgpass"), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(new(&[], &address, "by file").0, Some(0));
    assert_eq!(new(&[("PGPASSFILE", "/nonexistent")], &address, "by other file").0, Some(1));

    let variables = [("PGHOST", host), ("PGPORT", port), ("PGUSER", "me"), ("PGDATABASE", "postgres")];
    assert_eq!(new(&variables, "postgresql://", "by variables").0, Some(0));
    let (code, printed) = cutline(&place, &["list", &address], &[]);
    assert_eq!(code, Some(0));
    assert_eq!(printed.matches("by ").count(), 5, "{printed}");
}
