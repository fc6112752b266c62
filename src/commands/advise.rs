//! `eniplan advise`: which mechanism fits, and what it needs.

use super::load::{self, Loaded};
use super::{Data, Outcome};
use crate::advise::{Mechanism, advise};
use crate::capacity::{Question, capacity};
use crate::check::{Facts, incomplete};
use crate::cli::{AdviseArgs, Cli, Format, MechanismArg};
use crate::error::{Error, ExitStatus};
use crate::finding::Problem;
use crate::plan::plan;
use crate::render::{Rendered, SourceFlags};
use crate::report;

pub(super) fn run(args: &AdviseArgs, cli: &Cli) -> Result<Outcome, Error> {
    let loaded = load::load(&args.source, cli)?;
    let planned = plan(&loaded.inventory, &loaded.config);
    let wanted = args.mechanism.map(|mechanism| match mechanism {
        MechanismArg::SubnetDiscovery => Mechanism::SubnetDiscovery,
        MechanismArg::ZoneNamedEniConfigs => Mechanism::ZoneNamedEniConfigs,
        MechanismArg::StaticLabels => Mechanism::StaticLabels,
        MechanismArg::BootTimeMapping => Mechanism::BootTimeMapping,
        MechanismArg::AutoMode => Mechanism::AutoMode,
    });
    let mut advice = advise(&loaded.inventory, &loaded.config, &planned.plan, wanted, &args.source.flags())?;
    advice.notes.extend(later(&loaded, advice.choice)?);
    // What could not be read or decided is missing from what the mechanisms are judged by.
    let capacity = capacity(&loaded.inventory, &loaded.config, &planned.plan, &Question::default());
    let facts = Facts {
        inventory: &loaded.inventory,
        config: &loaded.config,
        plan: &planned.plan,
        rendered: &Rendered::default(),
        capacity: &capacity,
    };
    let of_other_region = loaded.problems.iter().filter(|problem| problem.rule == "region-differs");
    let stated: Vec<Problem> = of_other_region.chain(&planned.problems).cloned().collect();
    let findings = incomplete(&facts, &stated);
    let status = if findings.is_empty() { ExitStatus::Done } else { ExitStatus::Findings };
    let (stdout, stderr) = match args.output {
        Format::Json => {
            (Data::Bytes(report::json::advice(&planned.plan.cluster, &advice, &findings)?.into()), String::new())
        }
        Format::Human => {
            (Data::Text(report::advise::text(&planned.plan, &advice)?), report::findings::text(&findings, cli.quiet))
        }
    };
    Ok(Outcome { stdout, stderr, status })
}

/// The first later phase for which another mechanism is the one to take.
fn later(loaded: &Loaded, choice: Option<Mechanism>) -> Result<Option<String>, Error> {
    for at in loaded.way.iter().skip(loaded.point + 1) {
        let planned = plan(&loaded.inventory, &at.config);
        let then = advise(&loaded.inventory, &at.config, &planned.plan, None, &SourceFlags::default())?.choice;
        if let (Some(phase), Some(then)) = (&at.name, then.filter(|then| Some(*then) != choice)) {
            return Ok(Some(format!("from phase {phase} on it is {}", then.title())));
        }
    }
    Ok(None)
}
