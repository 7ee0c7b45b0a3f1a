#![doc = include_str!("../README.md")]

mod arms;
mod batch;
mod beliefs;
mod costs;
mod decision;
pub mod diagnostics;
pub mod estimators;
mod features;
mod guarantee;
mod interval;
mod joint;
mod learner;
mod named;
mod noise;
pub mod proof;
mod question;
mod random;
mod range;
mod resolution;
mod rewards;
pub mod rules;
mod scan;
mod settled;
mod shown;
mod spec;
pub mod statistics;
mod stop;
#[cfg(feature = "rayon")]
mod threads;
mod vector;
mod verdict;

pub use arms::{Arm, Arms, ArmsError, CovarianceError, CovarianceKind, Edge, Graph, Kernel};
pub use batch::BatchLearner;
pub use beliefs::Beliefs;
pub use costs::{Amount, CostError, MeasurementCosts};
pub use decision::{Decision, NamedDecision};
pub use features::Executor;
pub use guarantee::Guarantee;
pub use interval::{Confidence, IntervalError, IntervalKind, delta_of};
pub use learner::{AskTell, Learner, LearnerError, TellError};
pub use named::{NameError, Named, Problem};
pub use noise::{NoiseEstimate, NoiseEstimator, NoiseSource};
pub use question::{Question, QuestionError, short_number};
pub use random::{Purpose, Rng, below, draw, stream};
pub use range::Range;
pub use rewards::RewardKind;
pub use scan::{arg_max, arg_min};
pub use settled::{Settled, SettledArm};
pub use shown::{grouped, is_hidden, rounded, shown, with_short_names};
pub use spec::{ALGORITHMS, Algorithm, EstimatorKind, Parameter, ParameterRole, Spec, SpecError, algorithm};
pub use stop::{
    Budget, BudgetError, ConfidenceStop, Either, Elimination, GoodArms, NamedStop, Stop, StopCriterion, StopReason,
    StopWidth,
};
#[cfg(feature = "rayon")]
pub use threads::Threads;
pub use verdict::{Basis, Side, Verdict, VerdictLimit};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/verdicts.md")]
struct Verdicts;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/stopping.md")]
struct Stopping;
