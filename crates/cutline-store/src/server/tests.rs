use super::*;

/// The server at an address, with these variables in the environment.
fn server(address: &str, variables: &[(&str, &str)]) -> Result<Server, LocationError> {
    let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Server::parse(address, &variable).expect("the address of a server")
}

#[test]
fn every_form_of_an_address_means_the_same() {
    let same = [
        "postgresql://me:se%3Fcret@h:5433/db?durability=normal",
        "postgres://me:se?cret@h:5433/db?durability=normal",
        " postgres://h:5433/db?durability=normal&password=se?cret&user=me",
        "host=h port=5433 dbname=db user=me password=se?cret durability=normal",
        "user='me' password = 'se?cret' host=h port=5433 dbname=db durability=normal",
    ];
    for address in same {
        let server = server(address, &[]).unwrap();
        assert_eq!(server.to_string(), "postgresql://me@h:5433/db", "{address}");
        assert_eq!(server.config.get_password(), Some(b"se?cret".as_slice()), "{address}");
        assert_eq!((server.durability, server.has_password), (Durability::Normal, true), "{address}");
        assert!(!format!("{server:?}").contains("cret"), "{server:?}");
    }
}

#[test]
fn settings_come_from_the_address_then_the_service_then_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("services");
    std::fs::write(&file, "[lab]\nhost=s\ndbname=service\nuser=service\n").unwrap();
    let variables = [
        ("PGSERVICEFILE", file.to_str().unwrap()),
        ("PGSERVICE", "lab"),
        ("PGHOST", "environment"),
        ("PGPORT", "5999"),
        ("PGUSER", "environment"),
        ("PGPASSWORD", "SECRET"),
        ("PGCONNECT_TIMEOUT", "3"),
        ("PGSSLMODE", "disable"),
        ("PGDATABASE", ""),
    ];
    let found = server("postgresql://address@/", &variables).unwrap();
    assert_eq!(found.to_string(), "postgresql://address@s:5999/service");
    assert_eq!(found.config.get_password(), Some(b"SECRET".as_slice()));
    assert_eq!((found.limits.connect, found.tls.mode), (Some(Duration::from_secs(3)), SslMode::Disable));
    assert!(!found.has_password, "it is not in the address");
    assert_eq!(server("service=other", &variables).unwrap_err(), LocationError::Service("other".into()));
    let found = server("postgresql://", &variables[2..]).unwrap();
    assert_eq!(found.to_string(), "postgresql://environment@environment:5999");
}

#[test]
fn limits_have_defaults() {
    let limits = |address| server(address, &[]).unwrap().limits;
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(limits("postgres://h"), Limits { connect: seconds(10), statement: seconds(120), lock: seconds(60) });
    let given = limits("postgres://h?connect_timeout=2&statement_timeout=30s&lock_timeout=500");
    assert_eq!(given, Limits { connect: seconds(2), statement: seconds(30), lock: Some(Duration::from_millis(500)) });
    let none = limits("postgres://h?connect_timeout=0&statement_timeout=0&lock_timeout=0");
    assert_eq!(none, Limits { connect: None, statement: None, lock: None });
}

#[test]
fn tls_is_as_strict_as_libpq() {
    let tls = |address: &str| server(address, &[]).map(|server| (server.tls.mode, server.tls.roots));
    assert_eq!(tls("postgres://h"), Ok((SslMode::Prefer, Roots::None)));
    assert_eq!(tls("postgres://h?ssl=true"), Ok((SslMode::Require, Roots::None)));
    assert_eq!(tls("postgres://h?sslrootcert=system"), Ok((SslMode::VerifyFull, Roots::System)));
    assert_eq!(tls("postgres://h?sslmode=require&sslrootcert=a"), Ok((SslMode::VerifyCa, Roots::File("a".into()))));
    assert_eq!(tls("postgres://h?sslmode=verify-full"), Err(LocationError::NoRoots));
    assert_eq!(tls("postgres://h?sslmode=require&sslrootcert=system"), Err(LocationError::WeakMode));
}

#[test]
fn bad_settings_are_refused_without_their_values() {
    let message = |address: &str| server(address, &[]).unwrap_err().to_string();
    assert_eq!(message("postgres://h?pasword=SECRET"), "unknown store setting `pasword`");
    assert!(message("postgres://h?sslcrl=SECRET").contains("`sslcrl` of PostgreSQL is not supported"));
    for address in [
        "postgres://me:SECRET",
        "postgres://h?connect_timeout=SECRET",
        "postgres://h?statement_timeout=SECRET",
        "postgres://h?sslmode=SECRET",
        "postgres://h?hostaddr=SECRET",
        "postgres://h?keepalives=SECRET",
        "host=a,b port=1,2,3 password=SECRET",
        "postgresql:SECRET",
        "jdbc:postgresql://h?password=SECRET",
    ] {
        let message = message(address);
        assert!(!message.contains("SECRET"), "{message}");
    }
}

#[test]
fn servers_are_tried_in_their_order() {
    let found = server("postgres://a:1,[::1]:2,c/db", &[]).unwrap();
    let expected = [("a", 1), ("::1", 2), ("c", 5432)];
    assert_eq!(found.endpoints.iter().map(|e| (e.host.as_str(), e.port)).collect::<Vec<_>>(), expected);
    assert!(found.to_string().ends_with("@a:1,[::1]:2,c/db"));
    let local = server("postgres://me@%2Fvar%2Frun%2Fpostgresql/db", &[]).unwrap();
    assert!(local.endpoints[0].is_local());
    assert_eq!(local.endpoints[0].name_in_passfile(), "localhost");
    assert_eq!(local.to_string(), "postgresql://me@%2Fvar%2Frun%2Fpostgresql/db");
}
