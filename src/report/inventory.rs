//! What is said about an inventory beside its file.

use super::style::{of, styled};
use crate::finding::Severity;
use crate::inventory::{Gap, Inventory};

/// What could not be read, and what the file holds that not everybody should see.
pub fn text(inventory: &Inventory, quiet: bool) -> String {
    let mut text: String = inventory.gaps.iter().map(gap).collect();
    let user_data = inventory
        .launch_templates
        .iter()
        .flat_map(|template| &template.versions)
        .filter(|version| version.launch_template_data.user_data.is_some())
        .count();
    if user_data > 0 && !inventory.redacted && !quiet {
        text.push_str(&format!(
            "{} it holds the user data of {}, which can hold secrets; --redact leaves it out\n",
            styled(of(Severity::Note), "note:"),
            if user_data == 1 { "1 template version".into() } else { format!("{user_data} template versions") },
        ));
    }
    text
}

fn gap(gap: &Gap) -> String {
    if gap.missing_file_command().is_some() {
        return format!("{} {}\n", styled(of(Severity::Warning), "gap:"), gap.message);
    }
    let resource = gap.resource.as_ref().map(|resource| format!(" of {resource}")).unwrap_or_default();
    let code = gap.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let caller = gap.caller.as_ref().map(|caller| format!("\n  asked by {caller}")).unwrap_or_default();
    format!(
        "{} {}{resource} could not be read{code}: {}{caller}\n",
        styled(of(Severity::Warning), "gap:"),
        gap.action,
        gap.message
    )
}
