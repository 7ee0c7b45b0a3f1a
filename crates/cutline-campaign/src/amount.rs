//! Amounts of cost in JSON, as numbers of units: the reading that belongs to [`serialize_amount`](crate::serialize_amount).

use cutline::Amount;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
    let units = f64::deserialize(deserializer)?;
    Amount::nearest(units).ok_or_else(|| D::Error::custom(format!("{units} is not an amount")))
}
