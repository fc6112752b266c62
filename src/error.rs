//! What can stop a command, with the exit code and the `help:` line that belong to it.
//!
//! `Display` of an [`Error`] never repeats its source; whoever prints it walks the chain once.

pub mod access;
pub mod change;

use std::path::PathBuf;

pub use access::AccessError;
pub use change::ChangeError;

/// A place in a text file, counted from one as editors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Something that kept a command from doing what it was asked.
///
/// Problems in the user's world (a missing subnet, a foreign part) are not errors but findings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    ReadFile {
        /// The file as the user named it.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}", path.display())]
    WriteFile {
        /// The file or folder as the user named it.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Standard output could not be written.
    #[error("cannot write to standard output")]
    WriteOutput {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// `eniplan.yaml` is not what the product understands.
    #[error("{path}:{}:{}: {message}", position.line, position.column)]
    Config {
        /// The file as the user named it.
        path: String,
        /// Where in the file.
        position: Position,
        /// What is wrong there.
        message: String,
        /// The lines around it, with a marker.
        snippet: String,
        /// What to write instead.
        help: String,
    },
    /// The inventory file is not JSON, or not an inventory.
    #[error("{path}:{}:{}: not an inventory: {message}", position.line, position.column)]
    Inventory {
        /// The file as the user named it.
        path: String,
        /// Where in the file.
        position: Position,
        /// What is wrong there.
        message: String,
    },
    /// A file of a folder of documents is not what its name says.
    #[error("{path}:{}:{}: {message}", position.line, position.column)]
    Document {
        /// The file, below the folder as the user named it.
        path: String,
        /// Where in the file.
        position: Position,
        /// What is wrong there.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The files of a folder of documents are not those of one cluster.
    #[error("folder {path}: {message}")]
    Folder {
        /// The folder as the user named it.
        path: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The inventory, or an earlier `plan.json`, was written by another generation of the program.
    #[error("{path}: schema version {found} is not one that this eniplan reads ({supported})")]
    UnknownSchemaVersion {
        /// The file as the user named it.
        path: String,
        /// The version in the file.
        found: u64,
        /// The versions that can be read, for people.
        supported: String,
    },
    /// The inventory was read from another cluster than the one asked for.
    #[error("{path} describes cluster `{found}`, not `{wanted}`")]
    WrongCluster {
        /// The inventory file.
        path: String,
        /// The cluster named on the command line or in `eniplan.yaml`.
        wanted: String,
        /// The cluster in the inventory.
        found: String,
    },
    /// The cluster was to be read, but this build has no network code.
    #[error("cannot read cluster `{cluster}`: built without live, pass --inventory")]
    BuiltWithoutLive {
        /// The cluster named on the command line.
        cluster: String,
    },
    /// Neither an inventory nor a cluster was named.
    #[error("nothing to work from: no inventory and no cluster was named")]
    NoSource,
    /// `--node-group` names a group that is not in the plan.
    #[error("no node group `{name}` in the plan")]
    NoSuchNodeGroup {
        /// The name given.
        name: String,
        /// The groups that are there.
        known: Vec<String>,
    },
    /// `explain` was asked about a node that is not in the inventory.
    #[error("no node `{name}` in the inventory")]
    NoSuchNode {
        /// The name given.
        name: String,
        /// The nodes that are there.
        known: Vec<String>,
    },
    /// `--phase` names a phase that the file does not have.
    #[error("no phase `{name}` in eniplan.yaml")]
    NoSuchPhase {
        /// The name given.
        name: String,
        /// The phases that are there.
        known: Vec<String>,
    },
    /// `--only` or `--skip` names a rule that `verify` does not look at.
    #[error("no rule `{name}` in `verify`")]
    NoSuchRule {
        /// The name given.
        name: String,
        /// The rules that are there.
        known: Vec<String>,
    },
    /// `--skip` leaves out every rule that `--only` names.
    #[error("no rule is left to look at: --skip leaves out all of --only {only}")]
    NoRuleLeft {
        /// The rules of `--only`.
        only: String,
    },
    /// `--mechanism` names one that cannot do what is wanted.
    #[error("{mechanism} cannot do what is wanted here")]
    RuledOut {
        /// Name of the mechanism, for people.
        mechanism: String,
        /// What rules it out.
        because: String,
    },
    /// `--print` asked for something that this group or plan does not have.
    #[error("there is no {what} to print for {subject}")]
    NothingToPrint {
        /// `user-data`, `eniconfigs` or `launch-template`.
        what: String,
        /// The group or the plan.
        subject: String,
        /// Why there is none.
        because: String,
    },
    /// A template failed while it was filled in.
    #[error("template {template} failed")]
    Template {
        /// The template's file name.
        template: String,
        /// What the template engine said.
        #[source]
        source: Box<handlebars::RenderError>,
    },
    /// Our own output, read back, does not say what the plan says.
    #[error("rendered {what} does not say what the plan says: {reason}")]
    RenderedInvalid {
        /// The file that was rendered.
        what: String,
        /// The difference.
        reason: String,
    },
    /// Something that must not be overwritten is already there.
    #[error("{} is already there", path.display())]
    AlreadyExists {
        /// The file or folder.
        path: PathBuf,
        /// What to do about it.
        help: String,
    },
    /// AWS or Kubernetes could not be asked at all.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A change was not made, or not finished.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A saved diff is not one.
    #[error("{} is not a diff", path.display())]
    NotADiff {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A part of user data has a header that strict MIME does not allow.
    #[error("cannot write part {number} of the user data: {reason}")]
    UserDataPart {
        /// The part, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A value could not be turned into JSON or YAML; a defect of the program.
    #[error("cannot serialise {what}")]
    Serialise {
        /// The value.
        what: String,
        /// What the serialiser said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// How the process ends when this is what stopped it.
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Self::Access(AccessError::Interrupted) | Self::Change(ChangeError::Interrupted) => ExitStatus::Interrupted,
            _ => ExitStatus::CouldNot,
        }
    }

    /// What the reader can do about it: the text after `help:`, without a final period.
    pub fn help(&self) -> String {
        match self {
            Self::ReadFile { source, .. } if source.kind() == std::io::ErrorKind::InvalidData => {
                "save the file as UTF-8; the `>` of Windows PowerShell writes UTF-16, `Out-File -Encoding utf8` does not".into()
            }
            Self::ReadFile { path, .. } => format!("check that {} exists and that you may read it", path.display()),
            Self::WriteFile { path, .. } => {
                format!("check that the folder of {} exists, that you may write there and that the disk is not full", path.display())
            }
            Self::WriteOutput { .. } => "write to a file with `-o json > FILE`, or check the program that reads the output".into(),
            Self::Config { help, .. }
            | Self::AlreadyExists { help, .. }
            | Self::Document { help, .. }
            | Self::Folder { help, .. } => help.clone(),
            Self::Inventory { .. } => {
                "make the file anew with `eniplan inventory --cluster NAME`, or compare it with `eniplan schema inventory`".into()
            }
            Self::UnknownSchemaVersion { .. } => {
                "make the file anew with this eniplan, or use the eniplan release that wrote it".into()
            }
            Self::WrongCluster { found, .. } => {
                format!("pass the inventory of that cluster, or set metadata.name to `{found}` if this is the one you mean")
            }
            Self::BuiltWithoutLive { .. } => {
                "pass --inventory FILE or --from-dir DIR, or install a build with the feature `live`".into()
            }
            Self::Access(access) => access.help(),
            Self::Change(change) => change.help(),
            Self::NotADiff { .. } => "make it with `eniplan diff --out FILE`".into(),
            Self::NoSource => "pass --inventory FILE or --from-dir DIR to work from files, or --cluster NAME to read a cluster".into(),
            Self::NoSuchNodeGroup { known, .. } if known.is_empty() => {
                "the plan has no node groups; name them under spec.nodeGroups of eniplan.yaml".into()
            }
            Self::NoSuchNodeGroup { known, .. } => format!("the plan has: {}", known.join(", ")),
            Self::NoSuchNode { known, .. } if known.is_empty() => {
                "the inventory has no nodes; describe one with --node-group, --subnet-cidr and --instance-id".into()
            }
            Self::NoSuchNode { known, .. } if known.len() <= NEAREST => format!("it has: {}", known.join(", ")),
            Self::NoSuchNode { name, known } => {
                format!("{}`kubectl get nodes` lists all {}", did_you_mean(name, known), known.len())
            }
            Self::NoSuchRule { name, known } => {
                format!("{}docs/checks.md lists all {} rules", did_you_mean(name, known), known.len())
            }
            Self::NoRuleLeft { .. } => "leave a rule out of --skip, or out of --only".into(),
            Self::NoSuchPhase { known, .. } if known.is_empty() => {
                "eniplan.yaml has no phases; add them under spec.phases".into()
            }
            Self::NoSuchPhase { known, .. } => format!("the phases are: {}", known.join(", ")),
            Self::NothingToPrint { because, .. } => because.clone(),
            Self::RuledOut { because, .. } => {
                format!("it is ruled out: {because}; `eniplan advise` without --mechanism says which one fits")
            }
            Self::UserDataPart { .. } => "correct that part's headers in the launch template, or remove the part".into(),
            Self::Template { .. } | Self::RenderedInvalid { .. } | Self::Serialise { .. } => {
                "this is a defect of eniplan; nothing was written; please report it with the inventory (`eniplan inventory --redact`)".into()
            }
        }
    }
}

/// How many names an error offers at most instead of one that is not there.
const NEAREST: usize = 3;

/// The share of a name that a slip may change; beyond it another name is meant.
const SLIP: f64 = 0.25;

/// Names that differ from what was typed by a slip, as a question; nothing where there are none.
fn did_you_mean(name: &str, known: &[String]) -> String {
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(name, other);
    let mut alike: Vec<(f64, &str)> = known
        .iter()
        .map(|other| (likeness(other), other.as_str()))
        .filter(|(likeness, _)| *likeness >= 1.0 - SLIP)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    alike.truncate(NEAREST);
    let names: Vec<&str> = alike.into_iter().map(|(_, name)| name).collect();
    if names.is_empty() { String::new() } else { format!("did you mean {}? ", names.join(", ")) }
}

/// How the process ends. The numbers are part of the command line's contract (`docs/cli.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done.
    Done,
    /// Could not do it; an [`Error`] says why.
    CouldNot,
    /// There are differences, or a gated change is pending.
    Differences,
    /// There are findings of severity error.
    Findings,
    /// The user interrupted.
    Interrupted,
}

impl ExitStatus {
    /// The process exit code. 2 is clap's own, for usage errors, and nothing else uses it.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CouldNot => 1,
            Self::Differences => 3,
            Self::Findings => 4,
            Self::Interrupted => 130,
        }
    }
}
