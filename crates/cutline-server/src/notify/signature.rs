//! The signature of a notice: HMAC-SHA256, by which a receiver knows who sent it and when.

use crate::token::hexadecimal;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header `Cutline-Signature` of a body that is sent at this time, in seconds since 1970: `t=TIME,v1=HEX`, where HEX is the
/// HMAC-SHA256 of `TIME.BODY`. The time is signed too, so that an old notice cannot be sent again by others.
pub(super) fn signature(secret: &str, seconds: u64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length is allowed");
    mac.update(format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={}", hexadecimal(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number is that of `hmac.new(b"Jefe", b"1700000000.what do ya want for nothing?", "sha256").hexdigest()` in Python.
    #[test]
    fn the_signature_is_that_of_python() {
        let signed = signature("Jefe", 1_700_000_000, "what do ya want for nothing?");
        assert_eq!(signed, "t=1700000000,v1=1cdd0650c8be1cb0974b1788d458b1e781206cfef59b85faafc582d2e182c57e");
    }
}
