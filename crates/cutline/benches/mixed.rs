//! Live decisions on the mixed model: asks and tells of a learner and of a campaign, compared with reading the columns twice, and opening a
//! campaign of 10,000 rewards.
//!
//! `make bench` prints the table. Times are medians on one thread over all pulls up to T = 2K, so most of them include no learning of
//! the variances; the slowest one does.

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a bench reads the clock and prints")]

use cutline::{Arms, Purpose, Question, Spec, stream};
use cutline_campaign::{CampaignState, Event, Record, Terms};
use rand_core::Rng as _;
use std::hint::black_box;
use std::time::Instant;

/// p = d + 1 + D = 64 columns.
const N_ARMS: usize = 2_000;
const DIMENSION: usize = 23;
const LANDMARKS: usize = 40;
const COLUMNS: usize = DIMENSION + 1 + LANDMARKS;

fn main() {
    let world = World::new();
    println!("| K = {N_ARMS}, p = {COLUMNS}, T = {} | median, µs | × reading | slowest, ms |", 2 * N_ARMS);
    println!("|---|---|---|---|");
    let reading = reading();
    println!("| reading the columns twice | {:.1} | 1 | |", 1e6 * reading);
    let row = |name: &str, mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        println!("| {name} | {:.1} | {:.2} | {:.2} |", 1e6 * median, median / reading, 1e3 * most);
    };
    row("ask and tell, learner", world.play_learner());
    let mut journal = Vec::new();
    row("ask and tell, campaign", world.play_campaign(2 * N_ARMS, &mut journal));
    journal.clear();
    world.play_campaign(10_000, &mut journal);
    let open = (0..5).map(|_| world.open(&journal)).fold(f64::MAX, f64::min);
    println!("\nopening a campaign of 10,000 rewards, fastest of 5: {:.1} ms", 1e3 * open);
    let start = Instant::now();
    let mut campaign = world.campaign();
    campaign.extend(&journal).expect("its own journal");
    black_box(campaign.verdicts());
    println!("opening it and all verdicts: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
}

/// The time to read K×p numbers twice, the fastest of 200.
fn reading() -> f64 {
    let values = vec![1.0_f64; N_ARMS * COLUMNS];
    let once = || {
        let start = Instant::now();
        for _ in 0..2 {
            let mut sums = [0.0; 32];
            for block in black_box(&values).as_chunks::<32>().0 {
                for (sum, value) in sums.iter_mut().zip(block) {
                    *sum += value;
                }
            }
            black_box(sums);
        }
        start.elapsed().as_secs_f64()
    };
    (0..200).map(|_| once()).fold(f64::MAX, f64::min)
}

/// Arms and their means: linear, smooth and own parts.
struct World {
    arms: Arms,
    means: Vec<f64>,
}

impl World {
    fn new() -> Self {
        let mut uniform = uniform(0);
        let values: Vec<f64> = (0..N_ARMS * DIMENSION).map(|_| uniform()).collect();
        let mean = |x: &[f64]| x[0] + x[1] + (3.0 * x[2]).cos() + 0.8 * uniform();
        let means = values.chunks_exact(DIMENSION).map(mean).collect();
        Self { arms: Arms::from_slice(&values, DIMENSION).expect("finite features"), means }
    }

    fn spec() -> Spec {
        let spec = Spec::named("pivot").and_then(|spec| spec.with_estimator("mixed"));
        spec.and_then(|spec| spec.with("landmarks", LANDMARKS as f64)).expect("a known estimator")
    }

    fn question() -> Question {
        Question::new(0.3, 0.01).expect("a threshold")
    }

    fn play_learner(&self) -> Vec<f64> {
        let mut learner = Self::spec().learner(&self.arms, Self::question(), u32::MAX, 1).expect("features");
        let mut noise = uniform(1);
        let mut pull = |_| {
            let start = Instant::now();
            let arm = learner.ask().expect("a large budget");
            learner.tell(arm, self.means[arm] + noise()).unwrap();
            start.elapsed().as_secs_f64()
        };
        (0..2 * N_ARMS).map(&mut pull).collect()
    }

    fn campaign(&self) -> CampaignState {
        let terms = Terms { rewards: None, seed: 1, ..Terms::new(Self::question(), Self::spec(), 1_000_000) };
        CampaignState::new(self.arms.clone(), terms).expect("features and a budget")
    }

    fn play_campaign(&self, pulls: usize, journal: &mut Vec<Record>) -> Vec<f64> {
        let mut campaign = self.campaign();
        let mut noise = uniform(1);
        let mut times = Vec::new();
        for _ in 0..pulls {
            let start = Instant::now();
            let asked = campaign.ask(1, "worker", 0, 1_000).pop().expect("a large budget");
            let Event::Asked { ticket, arm, .. } = asked else { unreachable!("nothing else happens") };
            let told =
                campaign.tell(ticket, self.means[arm] + noise(), 0).expect("its ticket").expect("its first reward");
            times.push(start.elapsed().as_secs_f64());
            for event in [asked, told] {
                journal.push(Record { number: journal.len() as u64 + 1, at: 0, event });
            }
        }
        times
    }

    fn open(&self, journal: &[Record]) -> f64 {
        let start = Instant::now();
        let mut campaign = self.campaign();
        campaign.extend(journal).expect("its own journal");
        black_box(campaign.ask(1, "worker", 0, 1_000));
        start.elapsed().as_secs_f64()
    }
}

/// Numbers uniform on [−1, 1].
fn uniform(number: u64) -> impl FnMut() -> f64 {
    let mut rng = stream(number, Purpose::Noise, 0);
    move || f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}
