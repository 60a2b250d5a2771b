//! The frame of a page: one self-contained HTML file.
//!
//! A page is kept, sent, and viewed without a network, on a phone or on paper. So style and scripts are inline, the
//! content security policy forbids any request and every script but these, colors follow the system's preference, and
//! wide content scrolls. Markup is written with `maud`, which escapes all text.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac_sha256::Hash;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Marks a page as Dyad's own, which may be replaced.
pub(crate) const MARK: &str = "<meta name=\"generator\" content=\"Dyad\"";

const STYLE: &str = include_str!("assets/page.css");

/// The icon of every page: two pieces and what is between them.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' \
    height='32' rx='7' fill='%2300639c'/%3E%3Cpath d='M10 22 22 10' stroke='%23fff' stroke-width='4'/%3E%3Ccircle cx='10' \
    cy='22' r='6' fill='%23fff'/%3E%3Ccircle cx='22' cy='10' r='6' fill='%23ffd166'/%3E%3C/svg%3E";

/// A page as it grows.
#[derive(Default)]
pub struct Page {
    body: String,
    scripts: Vec<&'static str>,
    figures: u32,
    tables: u32,
}

impl Page {
    /// The whole file: the title is its heading too, and the scripts run when all is there.
    pub fn finish(self, title: &str) -> String {
        let source = |script: &&str| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Hash::hash(script.as_bytes())));
        let sources = match self.scripts.is_empty() {
            true => " 'none'".to_string(),
            false => self.scripts.iter().map(source).collect(),
        };
        let policy = format!("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src{sources}");
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="generator" content="Dyad";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    title { (title) }
                    link rel="icon" href=(ICON);
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main { h1 { (title) } (PreEscaped(self.body)) }
                    @for script in &self.scripts { script { (PreEscaped(script)) } }
                }
            }
        };
        page.into_string() + "\n"
    }

    /// A script that runs when the page is loaded, once however often it is asked for. Returns whether this is the first
    /// time.
    pub(crate) fn script(&mut self, script: &'static str) -> bool {
        let is_new = !self.scripts.contains(&script);
        if is_new {
            self.scripts.push(script);
        }
        is_new
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        self.put(html! { h2 { (text) } });
    }

    /// A paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) {
        self.put(html! { p { (text) } });
    }

    /// Numbers that a reader looks for first, each with what it is.
    pub fn facts(&mut self, facts: &[(String, &str)]) {
        self.put(html! { ul.facts { @for (value, name) in facts { li { b { (value) } (name) } } } });
    }

    /// Charts side by side under one caption; nothing if all are empty.
    pub fn charts(&mut self, charts: &[Markup], caption: &str) {
        if charts.iter().any(|chart| !chart.0.is_empty()) {
            self.figure(&html! { div.row { @for chart in charts { (chart) } } }, caption);
        }
    }

    /// A drawing and its caption.
    pub fn figure(&mut self, drawing: &Markup, caption: &str) {
        self.figures += 1;
        let number = self.figures;
        self.put(html! { figure { (drawing) figcaption { "Figure " (number) ". " (caption) } } });
    }

    /// A table. The first column names the rows.
    pub fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        self.tables += 1;
        let name = format!("Table {}", self.tables);
        let columns: Vec<bool> = (0..head.len()).map(|column| is_text(rows, column)).collect();
        self.put(html! {
            // What scrolls must be reached by the keyboard too.
            div.scroll tabindex="0" role="region" aria-label=(name) {
                table {
                    caption { div { (name) ". " (caption) } }
                    thead { tr {
                        @for (cell, text) in head.iter().zip(&columns) {
                            th scope="col" class=[text.then_some("text")] { (cell) }
                        }
                    } }
                    tbody { @for row in rows { tr {
                        @for (column, (cell, &text)) in row.iter().zip(&columns).enumerate() {
                            @if column == 0 { th scope="row" class=[(!text).then_some("count")] { (cell) } }
                            @else { td class=[text.then_some("text")] { (cell) } }
                        }
                    } "\n" } }
                }
            }
        });
    }

    /// A section that is folded at first.
    pub fn folded(&mut self, summary: &str, inside: impl FnOnce(&mut Page)) {
        let inside = self.within(inside);
        self.put(html! { details { summary { (summary) } "\n" (inside) } });
    }

    /// The values of a file, folded.
    pub fn values(&mut self, name: &str, values: &serde_json::Value) {
        let mut rows = Vec::new();
        flatten(&mut rows, String::new(), values);
        self.folded(name, |page| page.table(&format!("What is in {name}."), &["Setting", "Value"], &rows));
    }

    /// What a function adds to the page, for markup around it.
    pub(crate) fn within(&mut self, inside: impl FnOnce(&mut Page)) -> Markup {
        let before = std::mem::take(&mut self.body);
        inside(self);
        PreEscaped(std::mem::replace(&mut self.body, before))
    }

    /// Other markup.
    pub(crate) fn put(&mut self, markup: Markup) {
        self.body += &markup.0;
        self.body.push('\n');
    }
}

/// Whether a column has words alone, which are read from the left; numbers are compared from the right.
fn is_text(rows: &[Vec<String>], column: usize) -> bool {
    let first = |cell: &String| cell.trim_start_matches(['+', '-', '.']).chars().next();
    let firsts: Vec<char> = rows.iter().filter_map(|row| first(row.get(column)?)).collect();
    firsts.iter().any(|first| first.is_alphabetic()) && !firsts.iter().any(char::is_ascii_digit)
}

/// A value as data for a script: JSON that no markup can end.
pub(crate) fn data(value: &impl serde::Serialize) -> Markup {
    PreEscaped(serde_json::to_string(value).expect("plain data").replace('<', "\\u003c"))
}

/// A value of JSON as names and simple values.
fn flatten(rows: &mut Vec<Vec<String>>, name: String, value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) if !fields.is_empty() => {
            for (field, value) in fields {
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                flatten(rows, name, value);
            }
        }
        serde_json::Value::String(text) => rows.push(vec![name, text.clone()]),
        _ => rows.push(vec![name, value.to_string()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash is that of the element's text, by another program.
    #[test]
    fn the_policy_allows_the_scripts_of_the_page_alone() {
        let mut page = Page::default();
        page.script("\nlet x = 1;\n");
        let text = page.finish("A page");
        let policy = "script-src 'sha256-PCA06x5AClOd4MjKmg3RZDFBTufKR2vjtf2Rt+9Kt3s='\"";
        assert!(text.contains(policy) && text.contains("<script>\nlet x = 1;\n</script>"), "{text}");
        assert!(text.contains(MARK));
        assert!(Page::default().finish("A page").contains("script-src 'none'\""));
    }

    #[test]
    fn words_stand_at_the_left_of_their_column() {
        let mut page = Page::default();
        let row = |cells: [&str; 4]| cells.map(String::from).to_vec();
        let rows = [row(["CT1", "all groups", "-", "yes"]), row(["CT2", "linear groups", "+1.5", "-"])];
        page.table("Versions", &["Version", "What it is", "Elo", "Does it hold?"], &rows);
        let text = page.finish("A page");
        for expected in [
            "<th scope=\"col\" class=\"text\">What it is</th>",
            "<th scope=\"col\">Elo</th>",
            "<th scope=\"row\">CT1</th><td class=\"text\">all groups</td><td>-</td><td class=\"text\">yes</td>",
            "<th scope=\"row\">CT2</th><td class=\"text\">linear groups</td><td>+1.5</td><td class=\"text\">-</td>",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
