//! The diagnosis of a campaign for programs: what `cutline diagnose` prints as JSON, and a server answers.

use cutline::diagnostics::{ArmFit, Conclusion, DesignShape, Diagnostics, LackOfFit, NoiseScaleEstimate};
use cutline::estimators::Explained;
use serde::Serialize;

/// A pulled arm: a row of CSV and an object of JSON.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/diagnostics.md says what each number is")]
pub struct DiagnosedArm<'a> {
    pub arm: usize,
    pub name: Option<&'a str>,
    pub pulls: u64,
    pub mean: f64,
    pub fit: Option<f64>,
    pub leverage: Option<f64>,
    pub t: Option<f64>,
    pub p_value: Option<f64>,
    pub holm: Option<f64>,
    pub disagrees: Option<bool>,
}

impl<'a> DiagnosedArm<'a> {
    /// The arm with this fit, of arms with these names.
    #[must_use]
    pub fn new(arm: &ArmFit, names: &'a [String]) -> Self {
        let test = arm.fit.and_then(|fit| fit.test);
        Self {
            arm: arm.arm,
            name: names.get(arm.arm).map(String::as_str),
            pulls: arm.pulls,
            mean: arm.mean,
            fit: arm.fit.map(|fit| fit.mean),
            leverage: arm.fit.map(|fit| fit.leverage),
            t: test.map(|test| test.t),
            p_value: test.map(|test| test.p_value),
            holm: test.map(|test| test.holm),
            disagrees: test.map(|test| test.disagrees()),
        }
    }
}

/// The whole diagnosis, as JSON.
#[derive(Debug, Serialize)]
pub struct DiagnosisReport<'a> {
    conclusion: &'static str,
    missing: Option<&'static str>,
    sentence: String,
    model: Option<&'static str>,
    finding: Option<String>,
    explained: Option<Shares>,
    noise: Option<f64>,
    spread: Option<f64>,
    pulls_per_arm: Option<f64>,
    n_arms: usize,
    n_pulled: usize,
    pulls: u64,
    features: Option<Matrix>,
    design: Option<Matrix>,
    replicates: Option<Noise>,
    residuals: Option<Noise>,
    lack_of_fit: Option<Test>,
    arms: &'a [DiagnosedArm<'a>],
}

#[derive(Debug, Serialize)]
struct Shares {
    linear: f64,
    smooth: f64,
    own: f64,
}

#[derive(Debug, Serialize)]
struct Matrix {
    dimension: usize,
    rank: usize,
    condition: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Noise {
    sigma: f64,
    freedom: u64,
}

#[derive(Debug, Serialize)]
struct Test {
    f: f64,
    freedom: (u64, u64),
    p_value: f64,
    misfit: f64,
    power: f64,
}

impl<'a> DiagnosisReport<'a> {
    /// All of a diagnosis; `sentence` says it in words, and `arms` are those that were pulled.
    #[must_use]
    pub fn new(
        diagnostics: &Diagnostics,
        finding: Option<String>,
        sentence: String,
        arms: &'a [DiagnosedArm<'a>],
    ) -> Self {
        let shares = |Explained { linear, smooth, own }| Shares { linear, smooth, own };
        let matrix = |DesignShape { dimension, rank, condition }| Matrix { dimension, rank, condition };
        let noise = |NoiseScaleEstimate { sigma, freedom }| Noise { sigma, freedom };
        let test = |LackOfFit { f, freedom, p_value, misfit, power }| Test { f, freedom, p_value, misfit, power };
        let (conclusion, learnt) = (diagnostics.conclusion, diagnostics.learnt);
        Self {
            conclusion: conclusion.name(),
            missing: if let Conclusion::NotEnoughData(missing) = conclusion { Some(missing.name()) } else { None },
            sentence,
            model: diagnostics.model(),
            finding,
            explained: learnt.map(|learnt| shares(learnt.explained)),
            noise: learnt.map(|learnt| learnt.noise),
            spread: learnt.map(|learnt| learnt.spread),
            pulls_per_arm: learnt.map(|learnt| learnt.pulls_per_arm()),
            n_arms: diagnostics.n_arms,
            n_pulled: diagnostics.arms.len(),
            pulls: diagnostics.pulls,
            features: diagnostics.features.map(matrix),
            design: diagnostics.design.map(matrix),
            replicates: diagnostics.replicates.map(noise),
            residuals: diagnostics.residuals.map(noise),
            lack_of_fit: diagnostics.lack_of_fit.map(test),
            arms,
        }
    }
}
