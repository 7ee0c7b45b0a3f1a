//! Worlds in which verdicts must be honest: small problems whose truth is known and for which the model does not hold, or only partly.
//!
//! A campaign is played through the defaults a user gets, [`judge`] compares its verdicts with the truth.

use cutline::{Arm, Arms, Purpose, Question, Rng, Side, Spec, Verdict, stream};
use cutline_campaign::{CampaignState, Event, Terms};
use rand::RngExt;
use rand_distr::{Beta, Distribution, Poisson, StandardNormal, StudentT};
use rayon::prelude::*;

/// One measurement of an arm, given how many were made before.
type Draw = Box<dyn Fn(Arm, u32, &mut Rng) -> f64>;

/// A problem of a world.
pub struct Problem {
    features: Vec<f64>,
    dimension: usize,
    means: Vec<f64>,
    threshold: f64,
    draw: Draw,
}

/// A kind of problem.
#[derive(Clone, Copy)]
pub struct World {
    /// Its name in the tables.
    pub name: &'static str,
    /// Draws a problem.
    pub draw: fn(&mut Rng) -> Problem,
    /// How many measurements are asked for at a time.
    pub batch: u32,
    /// The assumption of the model that it breaks, which the documentation names.
    pub breaks: Option<&'static str>,
}

impl World {
    const fn new(name: &'static str, draw: fn(&mut Rng) -> Problem) -> Self {
        Self { name, draw, batch: 1, breaks: None }
    }

    const fn breaking(self, assumption: &'static str) -> Self {
        Self { breaks: Some(assumption), ..self }
    }

    /// The world of this name.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn named(name: &str) -> Self {
        *Self::ALL.iter().find(|world| world.name == name).expect("the name of a world")
    }

    /// All worlds.
    pub const ALL: [Self; 23] = [
        Self::new("base", base),
        Self::new("linear", linear),
        Self::new("unequal", unequal),
        Self::new("heavy", heavy),
        Self::new("exponential", exponential).breaking("noise without strong skew"),
        Self::new("passes_low", passes_low),
        Self::new("passes_middle", passes_middle),
        Self::new("passes_unlike", passes_unlike),
        Self::new("variants", variants),
        Self::new("counts", counts),
        Self::new("counts_rare", counts_rare),
        Self::new("ratings", ratings),
        Self::new("cliff", cliff),
        Self::new("few", few),
        Self::new("no_noise", no_noise),
        Self::new("unrelated", unrelated),
        Self::new("unrelated_4", unrelated_4),
        Self::new("equal", equal),
        Self::new("hits", hits),
        Self::new("xor", xor),
        Self::new("cluster", cluster),
        Self { batch: 24, ..Self::new("plate", plate).breaking("measurements that share nothing") },
        Self::new("drift", drift).breaking("measurements that share nothing"),
    ];
}

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The same numbers with mean 0 and variance 1.
fn standardised(mut values: Vec<f64>) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    for value in &mut values {
        *value -= mean;
    }
    let deviation = (values.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    for value in &mut values {
        *value /= deviation;
    }
    values
}

fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

/// The p quantile, by linear interpolation.
fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = p * (sorted.len() - 1) as f64;
    let (low, share) = (at.floor(), at.fract());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the list")]
    let low = low as usize;
    sorted[low] + share * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
}

/// Means with these shares of their variance linear in the features, smooth, and each arm's own.
fn means(rng: &mut Rng, features: &[f64], d: usize, [linear, smooth, own]: [f64; 3]) -> Vec<f64> {
    let n = features.len() / d;
    let columns: Vec<Vec<f64>> =
        (0..d).map(|j| standardised((0..n).map(|arm| features[arm * d + j]).collect())).collect();
    let (w, a) = (normals(d, rng), normals(d, rng));
    let phases: Vec<f64> = (0..d).map(|_| std::f64::consts::TAU * rng.random::<f64>()).collect();
    let sum = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
        standardised((0..n).map(|arm| (0..d).map(|j| of(j, columns[j][arm])).sum()).collect())
    };
    let of_line = sum(&|j, x| w[j] * x);
    let of_waves = sum(&|j, x| a[j] * (1.5 * x + phases[j]).sin());
    let of_own = standardised(normals(n, rng));
    (0..n).map(|arm| linear.sqrt() * of_line[arm] + smooth.sqrt() * of_waves[arm] + own.sqrt() * of_own[arm]).collect()
}

impl Problem {
    /// The threshold is the 0.6 quantile of the means, unless another is given.
    fn new(features: Vec<f64>, means: Vec<f64>, threshold: Option<f64>, draw: Draw) -> Self {
        let dimension = features.len() / means.len();
        let threshold = threshold.unwrap_or_else(|| quantile(&means, 0.6));
        Self { features, dimension, means, threshold, draw }
    }

    /// Rewards are a mean plus `noise`.
    fn with_noise(
        features: Vec<f64>,
        means: Vec<f64>,
        threshold: Option<f64>,
        noise: impl Fn(Arm, u32, &mut Rng) -> f64 + 'static,
    ) -> Self {
        let centre = means.clone();
        Self::new(features, means, threshold, Box::new(move |arm, step, rng| centre[arm] + noise(arm, step, rng)))
    }

    /// Rewards are 1 with these probabilities, otherwise 0.
    fn pass_fail(features: Vec<f64>, rates: Vec<f64>, threshold: f64) -> Self {
        let p = rates.clone();
        let draw = move |arm: Arm, _, rng: &mut Rng| f64::from(u8::from(rng.random::<f64>() < p[arm]));
        Self::new(features, rates, Some(threshold), Box::new(draw))
    }
}

fn plain(rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let features = normals(500, rng);
    let means = means(rng, &features, 5, [0.7, 0.2, 0.1]);
    (features, means)
}

fn base(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    Problem::with_noise(x, t, None, |_, _, rng| normal(rng))
}

fn linear(rng: &mut Rng) -> Problem {
    let x = normals(500, rng);
    let t = means(rng, &x, 5, [1.0, 0.0, 0.0]);
    Problem::with_noise(x, t, None, |_, _, rng| normal(rng))
}

/// The noise of an arm is log-normal, unrelated to anything.
fn unequal(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    let mut scales: Vec<f64> = (0..t.len()).map(|_| (0.8 * normal(rng)).exp()).collect();
    let mean_square = scales.iter().map(|s| s * s).sum::<f64>() / scales.len() as f64;
    for scale in &mut scales {
        *scale /= mean_square.sqrt();
    }
    Problem::with_noise(x, t, None, move |arm, _, rng| scales[arm] * normal(rng))
}

/// Student's t with 2.5 degrees of freedom, standard deviation 1.
fn heavy(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    let noise = StudentT::new(2.5).expect("2.5 degrees of freedom");
    Problem::with_noise(x, t, None, move |_, _, rng| (0.5_f64 / 2.5).sqrt() * noise.sample(rng))
}

fn exponential(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    Problem::with_noise(x, t, None, |_, _, rng| -(1.0 - rng.random::<f64>()).ln() - 1.0)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Pass rates mostly between .01 and .1, bar at .1.
fn passes_low(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    Problem::pass_fail(x, t.into_iter().map(|t| logistic(t - 3.2)).collect(), 0.1)
}

fn passes_middle(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    Problem::pass_fail(x, t.into_iter().map(logistic).collect(), 0.5)
}

/// Rates like batting averages: nearly equal, features useless.
fn passes_unlike(rng: &mut Rng) -> Problem {
    let rates: Vec<f64> = Beta::new(60.0, 160.0).expect("positive").sample_iter(&mut *rng).take(200).collect();
    let threshold = quantile(&rates, 0.7);
    Problem::pass_fail(normals(1600, rng), rates, threshold)
}

/// 24 variants of something at about .9, bar .9, one 0/1 feature and a category of 12.
fn variants(rng: &mut Rng) -> Problem {
    let rates = (0..24).map(|_| (0.9 + 0.06 * normal(rng)).clamp(0.02, 0.995)).collect();
    let is_one = |arm: usize, j: usize| if j < 12 { j == arm / 2 } else { arm % 2 == 1 };
    let x = (0..24).flat_map(|arm| (0..13).map(move |j| f64::from(u8::from(is_one(arm, j))))).collect();
    Problem::pass_fail(x, rates, 0.9)
}

fn counts(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    let rates: Vec<f64> = t.iter().map(|t| (0.8 * t + 0.5).exp()).collect();
    let means = rates.clone();
    Problem::new(x, means, None, Box::new(move |arm, _, rng| Poisson::new(rates[arm]).expect("positive").sample(rng)))
}

/// Nearly all rewards are 0.
fn counts_rare(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    let rates: Vec<f64> = t.iter().map(|t| (0.8 * t - 1.5).exp()).collect();
    let means = rates.clone();
    Problem::new(x, means, None, Box::new(move |arm, _, rng| Poisson::new(rates[arm]).expect("positive").sample(rng)))
}

/// Ratings from 1 to 5: one, and one more for each of four passes.
fn ratings(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    let rates: Vec<f64> = t.into_iter().map(logistic).collect();
    let means = rates.iter().map(|p| 1.0 + 4.0 * p).collect();
    let pass = move |arm: Arm, rng: &mut Rng| f64::from(u8::from(rng.random::<f64>() < rates[arm]));
    Problem::new(x, means, None, Box::new(move |arm, _, rng| 1.0 + (0..4).map(|_| pass(arm, rng)).sum::<f64>()))
}

/// One feature has a cliff at the bar.
fn cliff(rng: &mut Rng) -> Problem {
    let x = normals(900, rng);
    let t = x.chunks(6).map(|x| if x[2] > 0.3 { 1.0 } else { -1.0 } + 0.2 * normal(rng)).collect();
    Problem::with_noise(x, t, Some(0.0), |_, _, rng| normal(rng))
}

/// Twelve candidates.
fn few(rng: &mut Rng) -> Problem {
    let x = normals(24, rng);
    let t = means(rng, &x, 2, [0.5, 0.2, 0.3]);
    Problem::with_noise(x, t, None, |_, _, rng| normal(rng))
}

/// Own differences and hardly any noise.
fn no_noise(rng: &mut Rng) -> Problem {
    let x = normals(500, rng);
    let t = means(rng, &x, 5, [0.4, 0.2, 0.4]);
    Problem::with_noise(x, t, None, |_, _, rng| 0.05 * normal(rng))
}

fn unrelated(rng: &mut Rng) -> Problem {
    let (x, t) = (normals(500, rng), normals(100, rng));
    Problem::with_noise(x, t, None, |_, _, rng| 2.0 * normal(rng))
}

fn unrelated_4(rng: &mut Rng) -> Problem {
    let (x, t) = (normals(500, rng), normals(100, rng));
    Problem::with_noise(x, t, None, |_, _, rng| 4.0 * normal(rng))
}

/// All means are the same, half a noise below the bar.
fn equal(rng: &mut Rng) -> Problem {
    Problem::with_noise(normals(500, rng), vec![0.0; 100], Some(0.5), |_, _, rng| normal(rng))
}

/// 5 % of the candidates are hits that no feature announces.
fn hits(rng: &mut Rng) -> Problem {
    let x = normals(1200, rng);
    let mut t = means(rng, &x, 6, [0.8, 0.2, 0.0]);
    for mean in &mut t {
        *mean = 0.5 * *mean + if rng.random::<f64>() < 0.05 { 3.0 } else { 0.0 };
    }
    Problem::with_noise(x, t, Some(2.0), |_, _, rng| 0.5 * normal(rng))
}

fn xor(rng: &mut Rng) -> Problem {
    let bits: Vec<bool> = (0..1200).map(|_| rng.random::<f64>() < 0.5).collect();
    let t = bits.chunks(8).map(|b| if b[0] == b[1] { 1.0 } else { -1.0 } + 0.2 * normal(rng)).collect();
    let x = bits.iter().map(|&bit| f64::from(u8::from(bit))).collect();
    Problem::with_noise(x, t, Some(0.0), |_, _, rng| normal(rng))
}

/// Own differences are tiny in one half of the candidates and large in the other.
fn cluster(rng: &mut Rng) -> Problem {
    let mut x = normals(400, rng);
    x.iter_mut().step_by(4).enumerate().for_each(|(arm, x)| *x += if arm < 50 { 3.0 } else { -3.0 });
    let own = |arm: Arm, rng: &mut Rng| if arm < 50 { 0.05 * normal(rng) } else { 1.5 + normal(rng) };
    let t = (0..100).map(|arm| 0.5 * x[4 * arm + 1] + own(arm, rng)).collect();
    Problem::with_noise(x, t, Some(0.0), |_, _, rng| 0.3 * normal(rng))
}

/// Batches of 24 share an effect as large as the spread of the means.
fn plate(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    let effects = normals(64, rng);
    Problem::with_noise(x, t, None, move |_, step, rng| 0.5 * normal(rng) + effects[step as usize / 24])
}

/// All measurements drift by two noises over K measurements.
fn drift(rng: &mut Rng) -> Problem {
    let (x, t) = plain(rng);
    Problem::with_noise(x, t, None, |_, step, rng| 0.5 * normal(rng) + f64::from(step) / 100.0 - 0.5)
}

/// Verdicts of campaigns compared with the truth.
#[derive(Clone, Copy, Debug, Default)]
pub struct Honesty {
    /// The number of verdicts.
    pub verdicts: f64,
    /// How many were above or below, and how many of these wrong.
    pub decided: f64,
    /// See `decided`.
    pub decided_wrong: f64,
    /// How many calls were wrong, decided or not, and how many by the sum of the doubts.
    pub wrong: f64,
    /// See `wrong`.
    pub doubts: f64,
    /// How many doubts were below 0.01, and how many of these calls were wrong; then below 0.001.
    pub small: [(f64, f64); 2],
    /// How many intervals contained the mean.
    pub covered: f64,
    /// The number of measurements.
    pub measurements: f64,
    /// How many verdicts were proved, and how many of these wrong.
    pub proved: f64,
    /// See `proved`.
    pub proved_wrong: f64,
}

/// The doubts below which calls are counted apart.
pub const SMALL: [f64; 2] = [0.01, 0.001];

impl Honesty {
    /// The verdicts of one campaign.
    #[must_use]
    pub fn of(question: Question, verdicts: &[Verdict], means: &[f64]) -> Self {
        let mut all = Self::default();
        for (verdict, &mean) in verdicts.iter().zip(means) {
            let is_wrong = f64::from(u8::from(question.is_error(mean, verdict.mean)));
            all.verdicts += 1.0;
            if verdict.side != Side::Undecided {
                let side = question.threshold() + if verdict.side == Side::Above { 1.0 } else { -1.0 };
                let is_wrong = f64::from(u8::from(question.is_error(mean, side)));
                all.decided += 1.0;
                all.decided_wrong += is_wrong;
                if verdict.is_proved() {
                    all.proved += 1.0;
                    all.proved_wrong += is_wrong;
                }
            }
            all.wrong += is_wrong;
            all.doubts += verdict.doubt;
            for (small, end) in all.small.iter_mut().zip(SMALL) {
                if verdict.doubt < end {
                    *small = (small.0 + 1.0, small.1 + is_wrong);
                }
            }
            all.covered += f64::from(u8::from((verdict.lower..=verdict.upper).contains(&mean)));
        }
        all
    }

    /// Adds other campaigns.
    pub fn add(&mut self, other: &Self) {
        self.verdicts += other.verdicts;
        self.decided += other.decided;
        self.decided_wrong += other.decided_wrong;
        self.wrong += other.wrong;
        self.doubts += other.doubts;
        self.covered += other.covered;
        self.measurements += other.measurements;
        self.proved += other.proved;
        self.proved_wrong += other.proved_wrong;
        for (small, other) in self.small.iter_mut().zip(other.small) {
            *small = (small.0 + other.0, small.1 + other.1);
        }
    }
}

/// The default campaign: Pivot on the mixed model, σ learnt, 95 % intervals, no budget.
///
/// # Panics
/// Never: `pivot` works with `mixed`.
#[must_use]
pub fn default_terms(question: Question, seed: u64) -> Terms {
    let spec = Spec::named("pivot").and_then(|spec| spec.with_estimator("mixed")).expect("an algorithm and its model");
    Terms { seed, ..Terms::new(question, spec, u32::MAX) }
}

/// Plays one campaign of these `terms` on a problem of the world for each seed, and judges it after each of the `budgets`, in units of K and rising:
/// one row per budget, one entry per campaign.
///
/// # Panics
/// Never: the worlds are valid, and a ticket that was just handed out takes a reward.
#[must_use]
pub fn judge(
    world: &World,
    terms: impl Fn(Question, u64) -> Terms + Sync,
    budgets: &[f64],
    seeds: std::ops::Range<u64>,
) -> Vec<Vec<Honesty>> {
    let play = |seed: u64| -> Vec<Honesty> {
        let problem = (world.draw)(&mut stream(seed, Purpose::Instance, 0));
        let mut rng = stream(seed, Purpose::Noise, 0);
        let question = Question::new(problem.threshold, 0.0).expect("a finite threshold");
        let arms = Arms::from_slice(&problem.features, problem.dimension).expect("finite features");
        let mut campaign = CampaignState::new(arms, terms(question, seed)).expect("valid terms");
        let mut step = 0;
        let mut results = Vec::new();
        for budget in budgets {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
            let budget = (budget * problem.means.len() as f64).round() as u32;
            while step < budget {
                let asked = campaign.ask(world.batch.min(budget - step) as usize, "", 0, 1);
                if asked.is_empty() {
                    break;
                }
                for event in &asked {
                    let &Event::Asked { ticket, arm, .. } = event else { continue };
                    let reward = (problem.draw)(arm, step, &mut rng);
                    campaign.tell(ticket, reward, 0).expect("a ticket that is open");
                    step += 1;
                }
            }
            let measurements = f64::from(campaign.progress().counted);
            results.push(Honesty { measurements, ..Honesty::of(question, &campaign.verdicts(), &problem.means) });
        }
        results
    };
    let played: Vec<Vec<Honesty>> = seeds.into_par_iter().map(play).collect();
    (0..budgets.len()).map(|budget| played.iter().map(|campaign| campaign[budget]).collect()).collect()
}
