//! `eniplan man`: manual pages.

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::Outcome;
use crate::cli::Cli;
use crate::error::Error;

pub(super) fn run(command: Option<&str>) -> Result<Outcome, Error> {
    let mut eniplan = Cli::command();
    eniplan.build();
    let page = match command {
        None => Man::new(eniplan),
        Some(name) => {
            let known =
                eniplan.get_subcommands().map(|command| command.get_name().to_owned()).collect::<Vec<_>>().join(", ");
            let Some(found) = eniplan.find_subcommand(name) else {
                return Err(Error::NothingToPrint {
                    what: "manual page".into(),
                    subject: format!("`{name}`"),
                    because: format!("the commands are: {known}"),
                });
            };
            let page_name = format!("eniplan-{name}");
            Man::new(found.clone().name(page_name.clone()).display_name(page_name))
        }
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(|source| Error::WriteOutput { source })?;
    Ok(Outcome::bytes(text))
}
