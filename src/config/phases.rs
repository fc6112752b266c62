//! `spec.phases`: how the wishes grow. Phase N is the spec with what the phases 1 to N add to it.
//!
//! The addition happens on the tree, before anything is read from it, so that one parser reads every phase and says
//! where in the file a fault stands.

use super::fault::{Fault, Mark, nearest, one_of, shown};
use super::read::{Fields, filled_list, find, key, list, mapping, text};
use super::tree::{Entry, Node, Value};

pub(super) const PHASE_KEYS: &[&str] = &["name", "pools", "nodeGroups"];

/// Keys of the spec that say which phases there are; a phase has none of its own.
const KEYS_ABOUT_PHASES: [&str; 2] = ["phases", "currentPhase"];

/// Longest name of a phase; it stands in tables and titles.
pub(super) const LONGEST_PHASE_NAME: usize = 63;

/// A phase with its whole spec.
pub(super) struct PhaseSpec {
    pub(super) name: String,
    pub(super) spec: Node,
}

/// Every phase of the spec, in order.
pub(super) fn phases(entry: &Entry, spec: &Node) -> Result<Vec<PhaseSpec>, Fault> {
    let mut phases: Vec<(PhaseSpec, Mark)> = Vec::new();
    let mut grown = without_phases(spec);
    for item in filled_list(&entry.value, "phases")? {
        let fields = Fields::new(item, item.mark, "a phase", PHASE_KEYS)?;
        let name_node = &fields.require("name", "name: NAME-OF-THE-PHASE")?.value;
        let name = phase_name(name_node)?;
        if let Some((_, earlier)) = phases.iter().find(|(phase, _)| phase.name == name) {
            return Err(Fault::new(
                name_node.mark,
                format!("there is a phase `{name}` already, on line {}", earlier.line),
                "give every phase a name of its own",
            ));
        }
        if let Some(pools) = fields.get("pools") {
            add_pools(&mut grown, pools, &name)?;
        }
        if let Some(groups) = fields.get("nodeGroups") {
            add_node_groups(&mut grown, groups, &name)?;
        }
        phases.push((PhaseSpec { name, spec: grown.clone() }, name_node.mark));
    }
    Ok(phases.into_iter().map(|(phase, _)| phase).collect())
}

/// `spec.currentPhase`.
pub(super) fn current_phase(node: &Node, phases: &[PhaseSpec]) -> Result<String, Fault> {
    let name = text(node, "the name of a phase")?;
    let known = || phases.iter().map(|phase| phase.name.as_str());
    if known().any(|phase| phase == name) {
        return Ok(name.into());
    }
    let help = match nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if phases.is_empty() => "add it under spec.phases, or remove `currentPhase`".into(),
        None => format!("write {}", one_of(known())),
    };
    Err(Fault::new(node.mark, format!("there is no phase `{}`", shown(name)), help))
}

fn phase_name(node: &Node) -> Result<String, Fault> {
    let name = text(node, "the name of a phase")?;
    let legal = name.len() <= LONGEST_PHASE_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if legal {
        return Ok(name.into());
    }
    Err(Fault::new(
        node.mark,
        format!("`{}` cannot name a phase", shown(name)),
        format!("write at most {LONGEST_PHASE_NAME} letters, digits, `-`, `_` and `.`, with a letter or digit first"),
    ))
}

fn without_phases(spec: &Node) -> Node {
    let mut spec = spec.clone();
    if let Value::Mapping(entries) = &mut spec.value {
        entries.retain(|entry| key(entry, "spec").map_or(true, |name| !KEYS_ABOUT_PHASES.contains(&name)));
    }
    spec
}

/// The value of a key of the spec; an empty one of the shape of `like` is added where there is none.
fn value_in<'t>(spec: &'t mut Node, name: &str, like: &Entry) -> Option<&'t mut Node> {
    let Value::Mapping(entries) = &mut spec.value else { return None };
    if find(entries, name).is_none() {
        let empty = match &like.value.value {
            Value::List(_) => Value::List(Vec::new()),
            _ => Value::Mapping(Vec::new()),
        };
        entries.push(Entry { key: like.key.clone(), value: Node { mark: like.value.mark, value: empty } });
    }
    entries.iter_mut().find(|entry| key(entry, "spec").is_ok_and(|key| key == name)).map(|entry| &mut entry.value)
}

fn add_pools(spec: &mut Node, pools: &Entry, phase: &str) -> Result<(), Fault> {
    let place = format!("pools of phase `{phase}`");
    let added = mapping(&pools.value, pools.key.mark, &place)?;
    let Some(Node { value: Value::Mapping(known), .. }) = value_in(spec, "pools", pools) else { return Ok(()) };
    for pool in added {
        let name = key(pool, &place)?;
        let existing = known.iter_mut().find(|entry| key(entry, &place).is_ok_and(|key| key == name));
        match existing {
            Some(existing) => add_subnets(existing, pool, name, phase)?,
            None => known.push(pool.clone()),
        }
    }
    Ok(())
}

/// A phase adds subnets to a pool that is there, and changes nothing else about it.
fn add_subnets(existing: &mut Entry, pool: &Entry, name: &str, phase: &str) -> Result<(), Fault> {
    let place = format!("pool `{name}` of phase `{phase}`");
    for entry in mapping(&pool.value, pool.key.mark, &place)? {
        let key = key(entry, &place)?;
        if key != "subnets" {
            return Err(Fault::new(
                entry.key.mark,
                format!(
                    "pool `{name}` is there already; a phase adds `subnets` to it and cannot set its `{}`",
                    shown(key)
                ),
                "add the subnets only, or a pool of another name",
            ));
        }
        let further = list(&entry.value, "subnets")?;
        let Value::Mapping(fields) = &mut existing.value.value else { continue };
        let subnets = fields.iter_mut().find(|entry| super::read::key(entry, &place).is_ok_and(|key| key == "subnets"));
        match subnets.map(|entry| &mut entry.value.value) {
            Some(Value::List(items)) => items.extend(further.iter().cloned()),
            _ => {
                return Err(Fault::new(
                    entry.key.mark,
                    format!("pool `{name}` selects its subnets by tag, so that a phase cannot add some by id"),
                    "tag the further subnets when the phase comes, or add a pool of another name",
                ));
            }
        }
    }
    Ok(())
}

fn add_node_groups(spec: &mut Node, groups: &Entry, phase: &str) -> Result<(), Fault> {
    let added = list(&groups.value, "node groups")?;
    let Some(Node { value: Value::List(known), .. }) = value_in(spec, "nodeGroups", groups) else { return Ok(()) };
    for group in added {
        let place = format!("a node group of phase `{phase}`");
        let entries = mapping(group, group.mark, &place)?;
        let name = find(entries, "name").map(|entry| text(&entry.value, "the name of a node group")).transpose()?;
        match known.iter_mut().find(|other| name.is_some() && name_of(other) == name) {
            Some(existing) => set(existing, entries, &place)?,
            None => known.push(group.clone()),
        }
    }
    Ok(())
}

fn name_of(group: &Node) -> Option<&str> {
    let Value::Mapping(entries) = &group.value else { return None };
    text(&find(entries, "name")?.value, "the name of a node group").ok()
}

/// Keys that the phase gives take the place of those that are there.
fn set(existing: &mut Node, entries: &[Entry], place: &str) -> Result<(), Fault> {
    let Value::Mapping(fields) = &mut existing.value else { return Ok(()) };
    for entry in entries {
        let name = key(entry, place)?;
        match fields.iter_mut().find(|field| key(field, place).is_ok_and(|key| key == name)) {
            Some(field) => *field = entry.clone(),
            None => fields.push(entry.clone()),
        }
    }
    Ok(())
}
