//! TLS by `rustls`: whether a connection is encrypted, and which certificates of a server are accepted.

use crate::LocationError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `sslmode`, as libpq has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SslMode {
    /// Without encryption.
    Disable,
    /// Encrypted if the server can.
    Prefer,
    /// Encrypted, whoever the server is.
    Require,
    /// Encrypted, and the server has a certificate of a trusted authority.
    VerifyCa,
    /// Encrypted, and the server has a certificate of a trusted authority for its name.
    VerifyFull,
}

/// How a connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) mode: SslMode,
    /// `sslrootcert`: the file with the certificates of trusted authorities, or `system` for those of the operating system.
    pub(super) roots: Option<PathBuf>,
}

impl Tls {
    pub(super) fn new(mode: Option<&str>, roots: Option<&str>) -> Result<Self, LocationError> {
        let mode = match mode {
            None if roots == Some("system") => SslMode::VerifyFull,
            None | Some("prefer") => SslMode::Prefer,
            Some("disable") => SslMode::Disable,
            // As in libpq: whoever names an authority wants it to be checked.
            Some("require") if roots.is_some() => SslMode::VerifyCa,
            Some("require") => SslMode::Require,
            Some("verify-ca") => SslMode::VerifyCa,
            Some("verify-full") => SslMode::VerifyFull,
            Some(_) => {
                let expected = "disable, prefer, require, verify-ca or verify-full";
                return Err(LocationError::Value { name: "sslmode", expected });
            }
        };
        // Anybody can have a certificate of one of these authorities.
        if roots == Some("system") && mode != SslMode::VerifyFull {
            return Err(LocationError::WeakMode);
        }
        if mode >= SslMode::VerifyCa && roots.is_none() {
            return Err(LocationError::NoRoots);
        }
        Ok(Self { mode, roots: roots.map(PathBuf::from) })
    }
}

/// The configuration of a client; what is wrong with a file of certificates is an error.
pub(super) fn client_config(tls: &Tls) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let check = ServerCheck::new(tls, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(check)).with_no_client_auth())
}

/// The certificates in a file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error| format!("cannot read the certificates in {}: {error}", path.display());
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(unreadable)?;
    if Vec::is_empty(&certificates) {
        return Err(format!("{} contains no certificate", path.display()));
    }
    Ok(certificates)
}

/// Checks the certificate of a server as `sslmode` says.
#[derive(Debug)]
struct ServerCheck {
    /// `None` if any certificate will do.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    trusted: Vec<CertificateDer<'static>>,
    checks_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCheck {
    fn new(tls: &Tls, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let algorithms = provider.signature_verification_algorithms;
        let checks_name = tls.mode == SslMode::VerifyFull;
        if tls.mode < SslMode::VerifyCa {
            return Ok(Self { authorities: None, trusted: Vec::new(), checks_name, algorithms });
        }
        let trusted = match &tls.roots {
            None => Vec::new(),
            Some(path) if path.as_os_str() == "system" => rustls_native_certs::load_native_certs().certs,
            Some(path) => certificates(path)?,
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
        let authorities = authorities.map_err(|error| format!("no authority can be used for TLS: {error}"))?;
        Ok(Self { authorities: Some(authorities), trusted, checks_name, algorithms })
    }
}

impl ServerCertVerifier for ServerCheck {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            // The name is checked last, so that everything else is in order.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // A server whose certificate is its own authority, as `openssl req -x509` makes it. It was found in date before this.
            Err(Error::InvalidCertificate(error)) if is_authority(&error) && self.trusted.contains(certificate) => {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            done => done,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authorities.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authorities.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Whether a certificate was refused because it is that of an authority.
fn is_authority(error: &CertificateError) -> bool {
    matches!(error, CertificateError::Other(other)
        if matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)))
}

/// What is wrong with the certificate of a server, in words.
pub(super) fn in_words(error: &Error) -> String {
    let Error::InvalidCertificate(error) = error else { return error.to_string() };
    match error {
        CertificateError::UnknownIssuer => {
            "the server's certificate is not signed by an authority in `sslrootcert`".into()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for another name than the host in the address".into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet".into()
        }
        other => format!("the server's certificate is refused: {other:?}"),
    }
}
