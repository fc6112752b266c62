//! User data as an instance gets it: read what exists, merge our part into it, write, compare, measure.
//!
//! Reading is tolerant and bounded: bytes go in, a [`Document`] with a list of [`Oddity`] comes out, and nothing that
//! a launch template can hold makes it panic or use more than a few megabytes. Writing is strict. Parts are bytes;
//! nothing here assumes that a foreign part is text.

mod boot_table;
pub mod bootstrap_call;
pub mod compare;
mod edits;
mod kind;
pub mod kubelet_flags;
pub mod labels;
mod layers;
pub mod merge;
pub mod mime;
pub mod node_config;
pub mod nodeadm;
mod oddity;
mod ours;
mod read;
pub mod redact;
pub mod shell;
pub mod size;

pub use boot_table::{BootRow, BootTable, boot_table};
pub use kind::{Kind, content_type_of};
pub use layers::{Layer, MAX_BYTES};
pub use merge::{Family, MergeProblem, Merged, Note, Target, merge, without_ours};
pub use mime::{Header, Part};
pub use oddity::{Oddity, OddityKind};
pub use ours::{MARKER, is_ours, marker_name};
pub use read::{ReadError, read};

/// User data, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What was peeled off around it, the outermost first.
    pub layers: Vec<Layer>,
    /// What it is below the layers.
    pub kind: Kind,
    /// Its parts in order, nested multiparts flattened. A document that is not MIME has one part, the whole of it,
    /// with the content type that cloud-init gives it; an empty document has none.
    pub parts: Vec<Part>,
    /// Where each part of [`Document::parts`] stands; as many as there are parts.
    pub places: Vec<Place>,
    /// What was odd about it, in the order of its lines.
    pub oddities: Vec<Oddity>,
}

/// Where a part stands in the decoded text, in lines from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The first line of its headers; without headers, of its body.
    pub headers: usize,
    /// The first line of its body.
    pub body: usize,
}

impl Document {
    /// Whether something of that kind was odd.
    pub fn has(&self, kind: OddityKind) -> bool {
        self.oddities.iter().any(|oddity| oddity.kind == kind)
    }

    /// The parts that are not ours, with their numbers from 1.
    pub fn foreign_parts(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.parts.iter().enumerate().filter(|(_, part)| !is_ours(part)).map(|(index, part)| (index + 1, part))
    }
}
