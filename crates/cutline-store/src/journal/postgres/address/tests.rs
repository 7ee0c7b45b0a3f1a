use super::super::tls::SslMode;
use super::*;

/// Reads an address, with these variables in the environment.
fn parse(address: &str, variables: &[(&str, &str)]) -> Result<PostgresAddress, LocationError> {
    let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    PostgresAddress::parse(address, &variable).expect("the address of a server")
}

#[test]
fn every_form_of_an_address_means_the_same() {
    let same = [
        "postgresql://me:se%3Fcr'et@h:5433/db?durability=normal",
        " postgres://h:5433/db?durability=normal&password=se?cr'et&user=me",
        r"host=h port=5433 dbname=db user=me password=se?cr\'et durability=normal",
        r"user='me' password = 'se?cr\'et' host=h port=5433 dbname=db durability=normal",
    ];
    for text in same {
        let address = parse(text, &[]).unwrap();
        assert_eq!(address.to_string(), "postgresql://me@h:5433/db", "{text}");
        assert_eq!(address.config.get_password(), Some(b"se?cr'et".as_slice()), "{text}");
        assert_eq!((address.durability, address.has_password), (Durability::Normal, true), "{text}");
        assert!(!format!("{address:?}").contains("se?cr"), "{address:?}");
    }
    for path in ["screen.db", "a=b.db", "my host=x.db", "./host=x", "/a/b=c host=x", "=x", "a b"] {
        assert!(PostgresAddress::parse(path, &|_| None).is_none(), "{path}");
    }
}

#[test]
fn the_environment_fills_the_gaps() {
    let variables = [
        ("PGHOST", "environment"),
        ("PGPORT", "5999"),
        ("PGUSER", "environment"),
        ("PGPASSWORD", "SECRET"),
        ("PGSSLMODE", "disable"),
        ("PGDATABASE", ""),
        ("HOME", "/home/me"),
    ];
    let found = parse("postgresql://address@/db", &variables).unwrap();
    assert_eq!(found.to_string(), "postgresql://address@environment:5999/db");
    assert_eq!(found.config.get_password(), Some(b"SECRET".as_slice()));
    assert_eq!((found.tls.mode, found.passfile), (SslMode::Disable, Some("/home/me/.pgpass".into())));
    assert!(!found.has_password, "it is not in the address");
    assert_eq!(parse("postgresql://", &variables).unwrap().to_string(), "postgresql://environment@environment:5999");
}

#[test]
fn limits_have_defaults() {
    let limits = |address| parse(address, &[]).unwrap().limits;
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(limits("postgres://h"), Limits { connect: seconds(10), statement: seconds(120), lock: seconds(60) });
    let given = limits("postgres://h?connect_timeout=2&statement_timeout=30s&lock_timeout=500");
    assert_eq!(given, Limits { connect: seconds(2), statement: seconds(30), lock: Some(Duration::from_millis(500)) });
    let none = limits("postgres://h?connect_timeout=0&statement_timeout=0&lock_timeout=0");
    assert_eq!(none, Limits { connect: None, statement: None, lock: None });
}

#[test]
fn tls_is_as_strict_as_libpq() {
    let tls = |address: &str| parse(address, &[]).map(|address| (address.tls.mode, address.tls.roots));
    assert_eq!(tls("postgres://h"), Ok((SslMode::Prefer, None)));
    assert_eq!(tls("postgres://h?sslrootcert=system"), Ok((SslMode::VerifyFull, Some("system".into()))));
    assert_eq!(tls("postgres://h?sslmod%65=require&sslrootcert=a"), Ok((SslMode::VerifyCa, Some("a".into()))));
    assert_eq!(tls("postgres://h?sslmode=verify-full"), Err(LocationError::NoRoots));
    assert_eq!(tls("postgres://h?sslmode=require&sslrootcert=system"), Err(LocationError::WeakMode));
}

/// No part of an address that may be a password is repeated.
#[test]
fn bad_settings_are_refused_without_their_values() {
    let message = |address: &str| parse(address, &[]).unwrap_err().to_string();
    assert_eq!(message("postgres://h?pasword=SECRET"), "unknown store setting `pasword`");
    assert_eq!(message("postgres://h?sslcrl=SECRET"), "unknown store setting `sslcrl`");
    assert!(message("postgres://h:x").ends_with("invalid value for option `port`"));
    for address in [
        "postgres://me:SECRET",
        "postgres://me:x@SECRET@h",
        "postgres://h?password=x@SECRET",
        "postgres://me:x/SECRET@h/db",
        "postgres://me:x?SECRET=x@h/db",
        "postgres://h/d?SECRET",
        "postgres://[SECRET",
        "postgres://h?connect_timeout=SECRET",
        "postgres://h?statement_timeout=SECRET",
        "postgres://h?sslmode=SECRET",
        "host=a,b port=1,2,3 password=SECRET",
        "host=a password='SECRET",
        "host=a SECRET x=y",
        "postgresql:SECRET",
        "jdbc:postgresql://h?password=SECRET",
    ] {
        let message = message(address);
        assert!(!message.contains("SECRET"), "{message}");
    }
}

#[test]
fn servers_are_tried_in_their_order() {
    let found = parse("postgres://a:1,[::1]:2,c/db", &[]).unwrap();
    let expected = [("a", 1), ("::1", 2), ("c", 5432)];
    assert_eq!(found.endpoints.iter().map(|e| (e.host.as_str(), e.port)).collect::<Vec<_>>(), expected);
    assert!(found.to_string().ends_with("@a:1,[::1]:2,c/db"));
    let local = parse("postgres://me@%2Fvar%2Frun%2Fpostgresql/db", &[]).unwrap();
    assert!(local.endpoints[0].is_local());
    assert_eq!(local.endpoints[0].name_in_passfile(), "localhost");
    assert_eq!(local.to_string(), "postgresql://me@%2Fvar%2Frun%2Fpostgresql/db");
}
