//! JSON Schema of the file.

/// JSON Schema of `eniplan.yaml`.
pub fn json_schema() -> schemars::Schema {
    schemars::json_schema!({})
}
