//! TLS to a real server: the right authority passes; the wrong one, another name and plain text are refused with a clear line.

#![cfg(unix)]

use crate::common::process::wait_for;
use crate::stored::{Place, PrivateServer};
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// An authority with a certificate of its own.
fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for a server, and its key.
fn issued(authority: &CertifiedIssuer<'static, KeyPair>, name: &str) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.signed_by(&key, authority).unwrap(), key)
}

/// A certificate that is its own authority, as `openssl req -x509` makes it.
fn own(name: &str, is_expired: bool) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    if is_expired {
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    }
    (params.self_signed(&key).unwrap(), key)
}

/// Gives the server a certificate, and switches TLS on. The files are written by the server, as its own user.
fn serve(server: &PrivateServer, (certificate, key): &(Certificate, KeyPair), clients: &str) {
    let copy = |text: &str, file: &str| {
        let lines: Vec<String> = text.lines().map(|line| format!("('{line}')")).collect();
        format!("COPY (VALUES {}) TO PROGRAM 'umask 077; cat > {file}';", lines.join(", "))
    };
    let files = [
        copy(&certificate.pem(), "server.crt"),
        copy(&key.serialize_pem(), "server.key"),
        copy(clients, "clients.crt"),
    ];
    let mut client = server.client();
    client.batch_execute(&files.concat()).unwrap();
    for setting in ["ssl_ca_file = 'clients.crt'", "ssl = on"] {
        client.batch_execute(&format!("ALTER SYSTEM SET {setting}")).unwrap();
    }
    reload(server);
}

/// Makes the server read its files again, and waits until it has. It takes no connection while it reads them.
fn reload(server: &PrivateServer) {
    // A new connection has the time of the process that accepted it.
    let loaded = || {
        let row = server.client().query_one("SELECT pg_conf_load_time()::text", &[]).unwrap();
        row.get::<_, String>(0)
    };
    let before = loaded();
    server.client().batch_execute("SELECT pg_reload_conf()").unwrap();
    wait_for("new settings", || loaded() != before);
}

/// The last line on stderr of `cutline new`; empty if it succeeded.
fn error(place: &Place, address: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
    let mut command: Command = place.command(env!("CARGO_BIN_EXE_cutline"));
    command.args(["new", address, "arms.csv", "--threshold", "0.5", "--budget", "9", "--name", &name]);
    let output = command.env("HOME", place.path("")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    if output.status.success() { String::new() } else { stderr.lines().last().unwrap_or_default().into() }
}

#[test]
fn tls() {
    let server = PrivateServer::start();
    let place = Place::sqlite();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    let host = server.address.replace("127.0.0.1", "localhost");
    let with = |settings: &str| error(&place, &format!("{host}/postgres?{settings}"));

    // A server without TLS.
    assert_eq!(with("sslmode=prefer"), "");
    let line = with("sslmode=require");
    assert!(line.ends_with("server does not support TLS"), "{line}");

    let (right, wrong) = (authority("right"), authority("wrong"));
    place.write("right.crt", &right.pem());
    place.write("wrong.crt", &wrong.pem());
    place.write("none.crt", "");
    serve(&server, &issued(&right, "localhost"), &right.pem());
    for settings in [
        "sslmode=disable",
        "sslmode=prefer",
        "sslmode=require",
        "sslmode=verify-ca&sslrootcert=right.crt",
        "sslmode=verify-full&sslrootcert=right.crt",
    ] {
        assert_eq!(with(settings), "", "{settings}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let line = with(&format!("sslmode={mode}&sslrootcert=wrong.crt"));
        assert!(line.ends_with("the server's certificate is not signed by an authority in `sslrootcert`"), "{line}");
    }
    let line = with("sslrootcert=system");
    assert!(line.contains("the server's certificate is not signed by") || line.contains("no authority"), "{line}");
    let line = with("sslmode=verify-full&sslrootcert=missing.crt");
    assert!(line.contains("cannot read the certificates in missing.crt"), "{line}");
    let line = with("sslmode=verify-full&sslrootcert=none.crt");
    assert!(line.ends_with("none.crt contains no certificate"), "{line}");
    let line = with("sslmode=verify-full");
    assert!(line.contains("no authority is given; use `sslrootcert=FILE`"), "{line}");

    // Another name: the address instead of the name.
    let by_address = |settings: &str| error(&place, &format!("{}/postgres?{settings}", server.address));
    assert_eq!(by_address("sslmode=verify-ca&sslrootcert=right.crt"), "");
    let line = by_address("sslmode=verify-full&sslrootcert=right.crt");
    assert!(line.ends_with("the server's certificate is for another name than the host in the address"), "{line}");

    // Encrypted connections are only for users with a certificate, which Cutline does not have.
    let hba = "COPY (SELECT 'hostssl postgres cutline all cert' UNION ALL SELECT 'host all all all trust') TO PROGRAM 'cat > pg_hba.conf'";
    server.client().batch_execute(hba).unwrap();
    reload(&server);
    let line = with("sslmode=require");
    assert!(line.contains("certificate"), "{line}");
    assert_eq!(with("sslmode=prefer"), "", "it falls back to plain text, which the server takes");
}

#[test]
fn a_certificate_that_is_its_own_authority() {
    let server = PrivateServer::start();
    let place = Place::sqlite();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    let host = server.address.replace("127.0.0.1", "localhost");
    let verified =
        |mode: &str, host: &str| error(&place, &format!("{host}/postgres?sslmode={mode}&sslrootcert=own.crt"));
    let valid = own("localhost", false);
    place.write("own.crt", &valid.0.pem());
    serve(&server, &valid, &valid.0.pem());
    assert_eq!(verified("verify-full", &host), "");
    assert_eq!(verified("verify-ca", &server.address), "");
    let line = verified("verify-full", &server.address);
    assert!(line.ends_with("the server's certificate is for another name than the host in the address"), "{line}");

    let expired = own("localhost", true);
    place.write("own.crt", &expired.0.pem());
    serve(&server, &expired, &expired.0.pem());
    let line = verified("verify-ca", &host);
    assert!(line.ends_with("the server's certificate has expired"), "{line}");
}
