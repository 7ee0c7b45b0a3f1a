//! probe
use cutline_lab::*;
fn main() {
    let alg = std::env::args().nth(1).unwrap_or("linear-apt".into());
    for (k,d,t,runs) in [(20,5,200,1000),(20,20,200,1000),(150,4,400,200),(178,13,400,200)] {
        let toml = format!("budgets=[{t}]\nthreshold=0\nprecision=0.01\nseed=1\n[instance]\nkind=\"uniform\"\nn_arms={k}\ndimension={d}\n[[algorithm]]\nname=\"{alg}\"\n");
        std::fs::write("/tmp/ns.toml", toml).unwrap();
        let e = Experiment::load("/tmp/ns.toml".as_ref(), Overrides::default()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let mut best = f64::MAX; let mut f = 0;
        for _ in 0..15 {
        let s = std::time::Instant::now();
        let tally = pool.install(|| simulate(&e, 0..runs, &|_| ())).unwrap();
        f = tally.cell(0,0).failures;
        best = best.min(s.elapsed().as_secs_f64()/(runs*t) as f64*1e9);
        }
        println!("{k} {d} {t}: {best:.1} ns  fail {f}");
    }
}
