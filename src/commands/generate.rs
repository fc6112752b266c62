//! `eniplan generate`: the plan as files.

use super::plan::{Decided, decide};
use super::{Data, Outcome, load, out_dir};
use crate::cli::{Cli, ForOther, Format, GenerateArgs, Printed};
use crate::error::{Error, ExitStatus};
use crate::finding::has_errors;
use crate::plan::karpenter::karpenter;
use crate::render::{self, Rendered, RenderedNodeGroup};
use crate::report;

pub(super) fn run(args: &GenerateArgs, cli: &Cli) -> Result<Outcome, Error> {
    let loaded = load::load(&args.source, cli)?;
    let node_group = args.source.node_group.as_deref();
    let Decided { plan, rendered, findings, .. } =
        decide(&loaded.inventory, &loaded.config, loaded.problems, node_group)?;
    let stderr = report::findings::text(&findings, cli.quiet);
    if has_errors(&findings) {
        let stdout = match args.output {
            Format::Json => Data::Bytes(report::json::findings(&findings)?.into()),
            Format::Human => Data::Text(String::new()),
        };
        let stderr = stderr + &report::generate::nothing_written(&findings);
        return Ok(Outcome { stdout, stderr, status: ExitStatus::Findings });
    }
    if let Some(what) = args.print {
        let stdout = Data::Bytes(printed(what, &rendered, node_group)?);
        return Ok(Outcome { stdout, stderr, status: ExitStatus::Done });
    }
    let mut files = rendered.files()?;
    match args.for_other {
        None => {}
        Some(ForOther::Karpenter) => {
            let karpenter = karpenter(&loaded.inventory, &plan, node_group);
            files.extend(render::karpenter::files(&plan, &karpenter)?);
        }
    }
    let written = out_dir::write(&args.out_dir, &plan, files)?;
    let stdout = match args.output {
        Format::Json => Data::Bytes(report::json::generated(&written, &findings)?.into()),
        Format::Human => Data::Text(report::generate::text(&written, &plan, cli.quiet)?),
    };
    Ok(Outcome { stdout, stderr: stderr + &report::generate::warnings(&written), status: ExitStatus::Done })
}

fn printed(what: Printed, rendered: &Rendered, node_group: Option<&str>) -> Result<Vec<u8>, Error> {
    let nothing = |what: &str, because: &str| Error::NothingToPrint {
        what: what.into(),
        subject: node_group.map_or_else(|| "the plan".into(), |name| format!("node group {name}")),
        because: because.into(),
    };
    let group = |what: &str| -> Result<&RenderedNodeGroup, Error> {
        let name = node_group.ok_or_else(|| nothing(what, "name the group with --node-group"))?;
        rendered
            .node_groups
            .get(name)
            .or_else(|| rendered.node_groups.values().next())
            .ok_or_else(|| nothing(what, "the plan has no such group"))
    };
    match what {
        Printed::Eniconfigs if rendered.eni_configs.is_empty() => {
            Err(nothing("eniconfigs", "the plan has no ENIConfig; add pools to eniplan.yaml"))
        }
        Printed::Eniconfigs => {
            Ok(rendered.eni_configs.values().cloned().collect::<Vec<_>>().join("---\n").into_bytes())
        }
        Printed::UserData => {
            let user_data = group("user-data")?.user_data.as_ref();
            user_data
                .map(|user_data| user_data.bytes.clone())
                .ok_or_else(|| nothing("user-data", "the group needs none: `eniplan plan` says why"))
        }
        Printed::LaunchTemplate => {
            let request = group("launch-template")?.launch_template.as_ref();
            let request =
                request.ok_or_else(|| nothing("launch-template", "the group needs none: `eniplan plan` says why"))?;
            Ok(request.to_json()?.into_bytes())
        }
    }
}
