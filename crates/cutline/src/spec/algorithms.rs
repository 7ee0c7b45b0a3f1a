//! The list of all named algorithms.

use super::Range;
use super::algorithm::{Algorithm, PLAIN};
use super::parameter::{EstimatorKind, NOISE, Parameter, ParameterRole};
use crate::GoodArms;
use crate::rules::{
    Apt, Clucb, Csar, Easiest, Explore, Fws, Fwt, GAllocation, Grapl, Hdoc, Indexed, LinGame, LinGapE, Lsa, Lse, Lucb,
    LucbG, Pivot, RandomStraddle, Straddle, UcbE, Uniform,
};

/// Every algorithm that has a name. A new one is one more entry; the command line, files, Python and all listings derive from this list.
pub static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear-apt",
        about: "pulls the arm with the smallest √Tᵢ Δ̂ᵢ, its gap weighted by its pulls; assumes means linear in the features",
        paper: "Wu, Tsai & Lin 2024, LinearAPT",
        rule: "apt",
        estimator: EstimatorKind::Ridge,
        build: |builder, _| builder.index(Apt),
        batch: Some(|group| group.index(|_, _| Ok(Apt))),
        ..PLAIN
    },
    Algorithm {
        name: "apt",
        about: "the rule of `linear-apt` with the sample mean of each arm; needs no features",
        paper: "Locatelli, Gutzeit & Carpentier 2016, APT",
        rule: "apt",
        estimator: EstimatorKind::SampleMean,
        build: |builder, _| builder.index(Apt),
        batch: Some(|group| group.index(|_, _| Ok(Apt))),
        ..PLAIN
    },
    Algorithm {
        name: "random",
        about: "pulls every arm once, then arms at random; the baseline to beat",
        paper: "Wu, Tsai & Lin 2024, LinearAPT",
        rule: "uniform",
        estimator: EstimatorKind::Ridge,
        build: |builder, _| builder.any(Uniform),
        ..PLAIN
    },
    Algorithm {
        name: "ucbe",
        about: "pulls the arm with the least gap minus exploration bonus; the best bonus depends on the true means, so only simulations know it",
        paper: "Audibert, Bubeck & Munos 2010, UCB-E; Locatelli et al. 2016",
        rule: "ucb-e",
        estimator: EstimatorKind::Ridge,
        rule_parameters: &[Parameter {
            name: "exploration",
            default: None,
            about: "a in Δ̂ᵢ − √(a/Tᵢ)",
            range: Range::at_least(0.0),
            role: ParameterRole::OracleExploration,
        }],
        build: |builder, parameters| builder.index(UcbE::new(parameters[0])?),
        batch: Some(|group| group.index(|_, parameters| UcbE::new(parameters[0]))),
        ..PLAIN
    },
    Algorithm {
        name: "pivot",
        about: "pulls the arm that is most informative about the least certain arm; does not pull every arm first, so T < K works",
        paper: "Cutline's own; unpublished, no fixed-budget guarantee",
        rule: "pivot",
        estimator: EstimatorKind::Ridge,
        takes_any_belief: true,
        needs_variances: true,
        weighs_costs: true,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.with_variances(Pivot::new(parameters[0])?),
        batch: Some(|group| group.pivot(|parameters| Pivot::new(parameters[0]))),
        ..PLAIN
    },
    Algorithm {
        name: "straddle",
        about: "pulls the arm whose interval reaches furthest across the threshold; does not pull every arm first",
        paper: "Bryan, Schneider, Nichol, Miller, Genovese & Wasserman 2005, straddle",
        rule: "straddle",
        estimator: EstimatorKind::Ridge,
        takes_any_belief: true,
        needs_variances: true,
        starves_arms: true,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.with_variances(Straddle::new(parameters[0])?),
        ..PLAIN
    },
    Algorithm {
        name: "clucb",
        about: "pulls the undecided arms in turn, by their sample means; made for a confidence stop",
        paper: "Chen, Lin, King, Lyu & Chen 2014, CLUCB",
        rule: "clucb",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| builder.any(Clucb::new(parameters[0], parameters[1])?),
        ..PLAIN
    },
    Algorithm {
        name: "lingame",
        about: "learns the proportions in which a sequential test should pull the arms; made for a confidence stop",
        paper: "Degenne, Ménard, Shang & Valko 2020, LinGame",
        rule: "lingame",
        estimator: EstimatorKind::Ridge,
        needs_variances: true,
        needs_fixed_noise: true,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.with_designs(LinGame::new(parameters[0], builder.arms.n_arms())?),
        ..PLAIN
    },
    Algorithm {
        name: "csar",
        about: "pulls all open arms equally often, then settles the one whose side is clearest, in K phases planned for the budget",
        paper: "Chen, Lin, King, Lyu & Chen 2014, CSAR",
        rule: "csar",
        estimator: EstimatorKind::SampleMean,
        needs_horizon: true,
        needs_sample_means: true,
        settles: true,
        build: |builder, _| {
            let csar = Csar::new(builder.horizon, builder.arms.n_arms());
            builder.settling(csar, csar)
        },
        ..PLAIN
    },
    Algorithm {
        name: "lsa",
        about: "as `apt`, but also pulls arms with few pulls; made for few wrong arms on average",
        paper: "Tao, Blanco, Peng & Zhou 2019, LSA",
        rule: "lsa",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[
            Parameter {
                name: "alpha",
                default: Some(1.0),
                about: "α, how much the distance to the threshold counts compared with the pulls",
                range: Lsa::ALPHA,
                role: ParameterRole::Setting,
            },
            NOISE,
        ],
        build: |builder, parameters| builder.index(Lsa::new(parameters[0], parameters[1])?),
        batch: Some(|group| group.mean_index(|_, parameters| Lsa::new(parameters[0], parameters[1]))),
        ..PLAIN
    },
    Algorithm {
        name: "fwt",
        about: "pulls the arm for which a pull lowers the expected cost of all errors most; for budgets of many times K",
        paper: "Ouhamma, Degenne, Gaillard & Perchet 2021, FWT",
        rule: "fwt",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.index(Fwt::new(builder.arms, parameters[0])?),
        batch: Some(|group| group.mean_index(|arms, parameters| Fwt::new(arms, parameters[0]))),
        ..PLAIN
    },
    Algorithm {
        name: "fwt-gaps",
        about: "as `fwt`, where an error costs the distance of its mean to the threshold",
        paper: "Ouhamma, Degenne, Gaillard & Perchet 2021, section 3.3",
        rule: "fwt-gaps",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.index(Fwt::gaps(parameters[0])?),
        batch: Some(|group| group.mean_index(|_, parameters| Fwt::gaps(parameters[0]))),
        ..PLAIN
    },
    Algorithm {
        name: "grapl",
        about: "the rule of `linear-apt` for arms on a graph or with a kernel; does not pull every arm first; its λ is GrAPL's γ",
        paper: "LeJeune, Dasarathy & Baraniuk 2020, GrAPL",
        rule: "grapl",
        estimator: EstimatorKind::Ridge,
        lambda_in_paper: Some("gamma"),
        is_centred: true,
        rule_parameters: &[Parameter {
            name: "alpha",
            default: Some(1e-8),
            about: "α, added to the pulls of every arm",
            range: Grapl::ALPHA,
            role: ParameterRole::Setting,
        }],
        build: |builder, parameters| builder.any(Grapl::new(parameters[0])?),
        ..PLAIN
    },
    Algorithm {
        name: "random-straddle",
        about: "as `straddle`, with intervals whose width is drawn anew for every pull",
        paper: "Inatsu, Takeno, Kutsukake & Takeuchi 2024, randomised straddle",
        rule: "random-straddle",
        estimator: EstimatorKind::Ridge,
        takes_any_belief: true,
        needs_variances: true,
        starves_arms: true,
        rule_parameters: &[NOISE],
        build: |builder, parameters| builder.with_variances(RandomStraddle::new(parameters[0])?),
        ..PLAIN
    },
    Algorithm {
        name: "lse",
        about: "pulls the undecided arm whose interval reaches furthest across the threshold, and settles arms by intervals that only shrink",
        paper: "Gotovos, Casati, Hitz & Krause 2013, LSE",
        rule: "lse",
        estimator: EstimatorKind::Ridge,
        needs_variances: true,
        needs_fixed_noise: true,
        settles: true,
        rule_parameters: &[
            NOISE,
            Parameter {
                name: "beta",
                default: Some(0.0),
                about: "β, the squared width of the intervals in standard deviations; 0 means the growing βₜ of the paper",
                range: Lse::BETA,
                role: ParameterRole::Setting,
            },
            Parameter {
                name: "delta",
                default: Some(0.05),
                about: "δ, the probability that any interval ever fails, in βₜ",
                range: Lse::DELTA,
                role: ParameterRole::Confidence,
            },
        ],
        build: |builder, parameters| builder.lse(parameters[0], parameters[1], parameters[2]),
        ..PLAIN
    },
    Algorithm {
        name: "lingape",
        about: "pulls the arm that is most informative about the arm whose interval reaches furthest across the threshold; made for a confidence stop",
        paper: "Xu, Honda & Sugiyama 2018, LinGapE; for thresholds Tirinzoni & Degenne 2022",
        rule: "lingape",
        estimator: EstimatorKind::Ridge,
        needs_variances: true,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| {
            let rule = LinGapE::new(parameters[0], parameters[1])?;
            builder.with_variances(rule.with_stop_width(builder.stop_width()))
        },
        ..PLAIN
    },
    Algorithm {
        name: "hdoc",
        about: "pulls the arm that may be the best and reports an arm as soon as its side is known, so that arms above come early",
        paper: "Kano, Honda, Sakamaki, Matsuura, Nakamura & Sugiyama 2019, HDoC",
        rule: "hdoc",
        estimator: EstimatorKind::SampleMean,
        needs_fixed_noise: true,
        needs_sample_means: true,
        settles: true,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| {
            let stop = GoodArms::new(builder.arms.n_arms(), parameters[0], parameters[1])?;
            builder.settling(Hdoc::new(parameters[0])?, stop)
        },
        ..PLAIN
    },
    Algorithm {
        name: "lucb-g",
        about: "as `hdoc`, but pulls the arm whose interval reaches highest",
        paper: "Kano, Honda, Sakamaki, Matsuura, Nakamura & Sugiyama 2019, LUCB-G",
        rule: "lucb-g",
        estimator: EstimatorKind::SampleMean,
        needs_fixed_noise: true,
        needs_sample_means: true,
        settles: true,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| {
            let n_arms = builder.arms.n_arms();
            let index = LucbG::new(n_arms, parameters[0], parameters[1])?;
            builder.settling(Indexed::new(index, n_arms), GoodArms::new(n_arms, parameters[0], parameters[1])?)
        },
        ..PLAIN
    },
    Algorithm {
        name: "apt-g",
        about: "as `hdoc`, but pulls the arm that `apt` would pull, so that all arms are reported late",
        paper: "Kano, Honda, Sakamaki, Matsuura, Nakamura & Sugiyama 2019, APT-G",
        rule: "apt-g",
        estimator: EstimatorKind::SampleMean,
        needs_fixed_noise: true,
        needs_sample_means: true,
        settles: true,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| {
            let n_arms = builder.arms.n_arms();
            builder.settling(Indexed::new(Apt, n_arms), GoodArms::new(n_arms, parameters[0], parameters[1])?)
        },
        ..PLAIN
    },
    Algorithm {
        name: "lil-hdoc",
        about: "as `hdoc`, with intervals that shrink faster in the long run",
        paper: "Tsai, Tsai & Lin 2024, lil'HDoC",
        rule: "lil-hdoc",
        estimator: EstimatorKind::SampleMean,
        needs_fixed_noise: true,
        needs_sample_means: true,
        settles: true,
        rule_parameters: &[
            NOISE,
            DELTA,
            Parameter {
                name: "epsilon",
                default: Some(0.01),
                about: "ε of the law of the iterated logarithm, from which the intervals follow",
                range: GoodArms::EPSILON,
                role: ParameterRole::Setting,
            },
            Parameter {
                name: "opening",
                default: Some(1.0),
                about: "T₀, the pulls of every arm before the first arm is reported, rounded to a whole number",
                range: Hdoc::OPENING,
                role: ParameterRole::Setting,
            },
        ],
        build: |builder, parameters| {
            let [noise, delta, epsilon, opening] = *parameters else { unreachable!("four parameters") };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "its range is within that of u32"
            )]
            let opening = opening.round() as u32;
            let stop = GoodArms::iterated_logarithm(builder.arms.n_arms(), noise, delta, epsilon)?;
            builder.settling(Hdoc::new(noise)?.with_opening(opening), stop.with_opening(opening))
        },
        ..PLAIN
    },
    Algorithm {
        name: "lucb",
        about: "pulls the arm whose interval reaches furthest across the threshold, by its own rewards; made for a confidence stop",
        paper: "Kalyanakrishnan, Tewari, Auer & Stone 2012, LUCB; for thresholds Tirinzoni & Degenne 2022",
        rule: "lucb",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| {
            let rule = Lucb::new(parameters[0], parameters[1])?;
            builder.any(rule.with_stop_width(builder.stop_width()))
        },
        ..PLAIN
    },
    Algorithm {
        name: "easiest",
        about: "pulls the arm that takes the fewest more pulls to be proved, so that most arms are proved at any time; made for the stop `proved`",
        paper: "unpublished; made for Cutline",
        rule: "easiest",
        estimator: EstimatorKind::SampleMean,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| builder.index(Easiest::new(builder.arms.n_arms(), parameters[0], parameters[1])?),
        ..PLAIN
    },
    Algorithm {
        name: "fws",
        about: "moves the proportions of pulls towards those of the best sequential test, one step per reward; made for a confidence stop",
        paper: "Wang, Tzeng & Proutiere 2021, FWS, with one challenger",
        rule: "fws",
        estimator: EstimatorKind::Ridge,
        needs_variances: true,
        needs_fixed_noise: true,
        build: |builder, _| builder.with_designs(Fws::new(builder.arms.n_arms())),
        ..PLAIN
    },
    Algorithm {
        name: "g-allocation",
        about: "pulls so that the largest variance of any arm's mean becomes least; ignores the rewards",
        paper: "Soare, Lazaric & Munos 2014, greedy G-allocation",
        rule: "g-allocation",
        estimator: EstimatorKind::Ridge,
        needs_variances: true,
        build: |builder, _| builder.with_variances(GAllocation::new(builder.arms.n_arms())),
        ..PLAIN
    },
    Algorithm {
        name: "t-adaptive",
        about: "g-allocation of the open arms in phases; each phase ends by settling the arms whose side its rewards show",
        paper: "Soare, Lazaric & Munos 2014, XY-adaptive, with the arms as directions",
        rule: "t-adaptive",
        estimator: EstimatorKind::Ridge,
        needs_variances: true,
        needs_fixed_noise: true,
        settles: true,
        rule_parameters: &[NOISE, DELTA],
        build: |builder, parameters| builder.phased(parameters[0], parameters[1]),
        ..PLAIN
    },
    Algorithm {
        name: "explore",
        about: "searches for the first arm above, where the means do not decrease from arm to arm, in rounds planned for the budget",
        paper: "Cheshire, Ménard & Carpentier 2021, PD-MTB",
        rule: "explore",
        estimator: EstimatorKind::SampleMean,
        needs_horizon: true,
        needs_sample_means: true,
        settles: true,
        build: |builder, _| {
            // Two of their own, because a clone has no room for the whole search.
            let explore = || Explore::new(builder.horizon, builder.arms.n_arms());
            builder.settling(explore(), explore())
        },
        ..PLAIN
    },
];

/// δ of rules whose intervals, or whose test, are to fail at most so often.
const DELTA: Parameter = Parameter {
    name: "delta",
    default: Some(0.05),
    about: "δ, the probability of an error",
    range: LinGapE::DELTA,
    role: ParameterRole::Confidence,
};

/// The algorithm of that name, if there is one.
#[must_use]
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name)
}
