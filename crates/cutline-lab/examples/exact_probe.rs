use cutline_lab::*;
fn main() {
    for (name, _) in paper::EXPERIMENTS {
        let t = std::time::Instant::now();
        let e = paper::experiment(name, Overrides::default()).unwrap();
        let r = exact::replay(&e, &|_| ()).unwrap();
        let ok = r.iter().filter(|r| r.matches()).count();
        println!("{name} {ok}/{} {:?}", r.len(), t.elapsed());
        for r in r.iter().filter(|r| !r.matches()) { println!("{r:?}"); }
    }
}
