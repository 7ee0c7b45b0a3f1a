//! How values of the engine are written in JSON: for the `serialize_with` of serde.
#![expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]

use crate::{Time, rfc3339};
use cutline::estimators::Explained;
use cutline::{Amount, Basis, NoiseSource, Side, StopReason, VerdictLimit};
use serde::{Serialize, Serializer};

/// Shares of the differences between the arms.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub(crate) struct ExplainedShares {
    /// The share that is linear in the features.
    linear: f64,
    /// The share that is a smooth, but not linear, function of the features.
    smooth: f64,
    /// The share that the features do not explain.
    own: f64,
}

/// Writes an amount as a whole number where it is one: for the `serialize_with` of serde.
///
/// # Errors
/// If the serializer fails.
pub fn serialize_amount<S: Serializer>(amount: &Amount, serializer: S) -> Result<S::Ok, S::Error> {
    if *amount == Amount::units(amount.whole_units()) {
        serializer.serialize_u32(amount.whole_units())
    } else {
        serializer.serialize_f64(amount.value())
    }
}

pub(crate) fn some_amount<S: Serializer>(amount: &Option<Amount>, serializer: S) -> Result<S::Ok, S::Error> {
    amount.map(Amount::value).serialize(serializer)
}

pub(crate) fn noise_source<S: Serializer>(source: &NoiseSource, serializer: S) -> Result<S::Ok, S::Error> {
    source.name().serialize(serializer)
}

pub(crate) fn stop_reason<S: Serializer>(reason: &Option<StopReason>, serializer: S) -> Result<S::Ok, S::Error> {
    reason.map(StopReason::name).serialize(serializer)
}

pub(crate) fn text<S: Serializer>(value: &Option<impl ToString>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(serializer)
}

pub(crate) fn some_time<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(rfc3339).serialize(serializer)
}

pub(crate) fn explained<S: Serializer>(shares: &Option<Explained>, serializer: S) -> Result<S::Ok, S::Error> {
    shares.map(|Explained { linear, smooth, own }| ExplainedShares { linear, smooth, own }).serialize(serializer)
}

pub(crate) fn time<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    rfc3339(*time).serialize(serializer)
}

pub(crate) fn basis<S: Serializer>(basis: &Option<Basis>, serializer: S) -> Result<S::Ok, S::Error> {
    basis.map(Basis::name).serialize(serializer)
}

pub(crate) fn limit<S: Serializer>(limit: &Option<VerdictLimit>, serializer: S) -> Result<S::Ok, S::Error> {
    limit.map(VerdictLimit::name).serialize(serializer)
}

pub(crate) fn side<S: Serializer>(side: &Side, serializer: S) -> Result<S::Ok, S::Error> {
    side.name().serialize(serializer)
}
