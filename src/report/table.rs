//! Tables without lines, two blanks between columns.

use comfy_table::Table;
use comfy_table::presets::NOTHING;

/// A table with its heads, indented by two blanks.
pub(super) fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| format!("  {}\n", line.trim_end())).collect()
}
