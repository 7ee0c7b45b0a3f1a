use cutline::EstimatorKind as E;
use cutline_studies::proved_stop::*;
fn main() {
    let runs: u64 = std::env::args().nth(1).map_or(40, |r| r.parse().unwrap());
    let g = StopSetting { n_arms: 10, dimension: 3, linear: 0.7, gap: 0.25, rates: None, delta: 0.05, budget: 20000 };
    for (name, s, noises) in [("normal", g, vec![None, Some(1.0)]), ("rates", StopSetting { rates: Some(0.18), ..g }, vec![None]), ("linear 1, K 40", StopSetting{ n_arms: 40, linear: 0.95, gap: 0.1, ..g}, vec![None])] {
        let say = |label: String, p| { let t = std::time::Instant::now(); let c = measure(&s, p, runs, 1).unwrap(); println!("{name} {label}: {:.0} stopped {} wrong {} ({:.1?})", c.pulls as f64 / c.runs as f64, c.stopped, c.wrong, t.elapsed()); };
        say("elimination".into(), Prover::Elimination);
        for noise in noises {
            say(format!("independent in turn {noise:?}"), Prover::InTurn(E::SampleMean, noise));
            say(format!("mixed in turn {noise:?}"), Prover::InTurn(E::Mixed, noise));
            say(format!("mixed one by one {noise:?}"), Prover::OneByOne(E::Mixed, noise));
            say(format!("mixed pivot {noise:?}"), Prover::Campaign(E::Mixed, "pivot", noise));
        }
    }
}
