//! `cutline algorithms`

use crate::args::{Algorithms, Format};
use crate::failure::Failure;
use crate::print::json;
use cutline::{ALGORITHMS, Algorithm};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct CampaignSummary {
    name: &'static str,
    about: &'static str,
    rule: &'static str,
    estimator: &'static str,
    stop: &'static str,
    parameters: Vec<Parameter>,
    paper: &'static str,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    about: &'static str,
    default: Option<f64>,
    range: String,
}

impl From<&Algorithm> for CampaignSummary {
    fn from(algorithm: &Algorithm) -> Self {
        let parameter = |p: &cutline::Parameter| Parameter {
            name: p.name,
            about: p.about,
            default: p.default,
            range: p.range.to_string(),
        };
        Self {
            name: algorithm.name,
            about: algorithm.about,
            rule: algorithm.rule,
            estimator: algorithm.estimator.name(),
            stop: "budget",
            parameters: algorithm.parameters().map(parameter).collect(),
            paper: algorithm.paper,
        }
    }
}

pub(crate) fn algorithms(args: &Algorithms) -> Result<(), Failure> {
    let listed: Vec<CampaignSummary> = ALGORITHMS.iter().map(CampaignSummary::from).collect();
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => json(&mut out, &listed)?,
        Format::Csv => csv(&mut out, &listed)?,
        Format::Table => {
            for algorithm in &listed {
                describe(&mut out, algorithm)?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn describe(out: &mut impl Write, algorithm: &CampaignSummary) -> Result<(), Failure> {
    let CampaignSummary { name, about, rule, estimator, stop, parameters, paper } = algorithm;
    writeln!(out, "{name}\n    {about}")?;
    writeln!(out, "    rule {rule} × estimator {estimator} × stop {stop}")?;
    for Parameter { name, about, default, range } in parameters {
        let default = default.map_or("no default".into(), |default| format!("default {default}"));
        writeln!(out, "    `{name}`: {about}; {default}, {range}")?;
    }
    writeln!(out, "    {paper}\n")?;
    Ok(())
}

fn csv(out: &mut impl Write, listed: &[CampaignSummary]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(out);
    let failed = |error: csv::Error| Failure::from(std::io::Error::from(error));
    writer.write_record(["name", "about", "rule", "estimator", "stop", "parameters", "paper"]).map_err(failed)?;
    for CampaignSummary { name, about, rule, estimator, stop, parameters, paper } in listed {
        let parameters: Vec<&str> = parameters.iter().map(|p| p.name).collect();
        let parameters = parameters.join(" ");
        writer.write_record([name, about, rule, estimator, stop, &parameters.as_str(), paper]).map_err(failed)?;
    }
    writer.flush()?;
    Ok(())
}
