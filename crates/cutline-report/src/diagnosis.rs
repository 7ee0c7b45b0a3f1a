//! The numbers of a diagnosis: noise, spread, features and the fit of the linear model.

use crate::numbers::short;
use cutline::diagnostics::{DesignShape, Diagnostics, LearntModel, NoiseScaleEstimate};

/// The numbers about all arms together, each with its name.
#[must_use]
pub fn diagnosis_facts(diagnostics: &Diagnostics) -> [(&'static str, String); 10] {
    let none = || String::from("-");
    let shape = |shape: Option<DesignShape>| {
        shape.map_or_else(none, |DesignShape { dimension, rank, condition }| {
            let condition =
                condition.map_or("columns are linearly dependent".into(), |c| format!("condition {}", short(c)));
            format!("rank {rank} of {dimension}, {condition}")
        })
    };
    let scale = |scale: Option<NoiseScaleEstimate>| {
        scale.map_or_else(none, |NoiseScaleEstimate { sigma, freedom }| {
            format!("{} on {freedom} degrees of freedom", short(sigma))
        })
    };
    let lack = diagnostics.lack_of_fit;
    let test = lack.map_or_else(none, |lack| {
        let (upper, lower) = lack.freedom;
        let (f, p_value) = (short(lack.f), short(lack.p_value));
        format!("F = {f} on {upper} and {lower} degrees of freedom, p = {p_value}")
    });
    let Diagnostics { n_arms, pulls, arms, learnt, .. } = diagnostics;
    let number = |number: fn(&LearntModel) -> f64| learnt.as_ref().map_or_else(none, |learnt| short(number(learnt)));
    [
        ("arms", format!("{n_arms}, {} of them pulled, {pulls} pulls", arms.len())),
        ("noise by the model", number(|learnt| learnt.noise)),
        ("spread of the arms", number(|learnt| learnt.spread)),
        ("features of all arms", shape(diagnostics.features)),
        ("features as pulled", shape(diagnostics.design)),
        ("noise from replicates", scale(diagnostics.replicates)),
        ("noise from residuals", scale(diagnostics.residuals)),
        ("lack of fit", test),
        ("misfit", lack.map_or_else(none, |lack| short(lack.misfit))),
        ("power", lack.map_or_else(none, |lack| short(lack.power))),
    ]
}
