//! The frame of a page: one self-contained HTML file.
//!
//! A page is kept, sent, and viewed without a network, on a phone or on paper. So style and scripts are inline, the
//! content security policy forbids any request and every script but these, colors follow the system's preference, and
//! wide content scrolls.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

/// Marks a page as Dyad's own, which may be replaced.
pub(crate) const MARK: &str = "<meta name=\"generator\" content=\"Dyad\"/>";

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
    /// The whole file.
    pub fn finish(self, title: &str) -> String {
        frame(title, STYLE, &self.body, &self.scripts)
    }

    /// A script that runs when the page is loaded, once however often it is asked for.
    pub fn script(&mut self, script: &'static str) {
        if !self.scripts.contains(&script) {
            self.scripts.push(script);
        }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) {
        self.put(format_args!("<h2>{}</h2>\n", escape(text)));
    }

    /// A paragraph of plain text.
    pub fn paragraph(&mut self, text: &str) {
        self.put(format_args!("<p>{}</p>\n", escape(text)));
    }

    /// Numbers that a reader looks for first, each with what it is.
    pub fn facts(&mut self, facts: &[(String, &str)]) {
        if facts.is_empty() {
            return;
        }
        self.put(format_args!("<ul class=\"facts\">\n"));
        for (value, name) in facts {
            self.put(format_args!("<li><b>{}</b>{}</li>\n", escape(value), escape(name)));
        }
        self.put(format_args!("</ul>\n"));
    }

    /// Charts side by side under one caption; nothing if all are empty.
    pub fn charts(&mut self, charts: &[String], caption: &str) {
        if charts.iter().any(|chart| !chart.is_empty()) {
            self.figure(&format!("<div class=\"row\">\n{}</div>\n", charts.concat()), caption);
        }
    }

    /// A drawing and its caption.
    pub fn figure(&mut self, drawing: &str, caption: &str) {
        self.figures += 1;
        let (number, caption) = (self.figures, escape(caption));
        self.put(format_args!("<figure>\n{drawing}<figcaption>Figure {number}. {caption}</figcaption>\n</figure>\n"));
    }

    /// A table. The first column names the rows.
    pub fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        self.tables += 1;
        let (number, caption) = (self.tables, escape(caption));
        // What scrolls must be reached by the keyboard too.
        self.put(format_args!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table {number}\"><table>\n\
             <caption><div>Table {number}. {caption}</div></caption>\n<thead><tr>"
        ));
        let class = |column| if is_text(rows, column) { " class=\"text\"" } else { "" };
        let classes: Vec<&str> = (0..head.len()).map(class).collect();
        for (cell, class) in head.iter().zip(&classes) {
            self.put(format_args!("<th scope=\"col\"{class}>{}</th>", escape(cell)));
        }
        self.put(format_args!("</tr></thead>\n<tbody>\n"));
        for row in rows {
            self.put(format_args!("<tr>"));
            for (column, cell) in row.iter().enumerate() {
                let (open, close) = if column == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let class = match classes.get(column).copied().unwrap_or_default() {
                    "" if column == 0 => " class=\"count\"",
                    _ if column == 0 => "",
                    class => class,
                };
                self.put(format_args!("<{open}{class}>{}</{close}>", escape(cell)));
            }
            self.put(format_args!("</tr>\n"));
        }
        self.put(format_args!("</tbody>\n</table></div>\n"));
    }

    /// A section that is folded at first.
    pub fn folded(&mut self, summary: &str, inside: impl FnOnce(&mut Page)) {
        self.put(format_args!("<details>\n<summary>{}</summary>\n", escape(summary)));
        inside(self);
        self.put(format_args!("</details>\n"));
    }

    /// Markup as it is.
    pub fn put(&mut self, text: std::fmt::Arguments) {
        self.body.write_fmt(text).expect("writing to a string does not fail");
    }
}

/// Whether a column has words alone, which are read from the left; numbers are compared from the right.
fn is_text(rows: &[Vec<String>], column: usize) -> bool {
    let first = |cell: &String| cell.trim_start_matches(['+', '-', '.']).chars().next();
    let firsts: Vec<char> = rows.iter().filter_map(|row| first(row.get(column)?)).collect();
    firsts.iter().any(|first| first.is_alphabetic()) && !firsts.iter().any(char::is_ascii_digit)
}

/// A whole file: the title is its heading too, and the scripts run when all is there.
pub(crate) fn frame(title: &str, style: &str, body: &str, scripts: &[&str]) -> String {
    let title = escape(title);
    let (mut sources, mut elements) = (String::new(), String::new());
    for script in scripts {
        let script = format!("\n{script}");
        let _ = write!(sources, " 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(&script)));
        let _ = writeln!(elements, "<script>{script}</script>");
    }
    if scripts.is_empty() {
        sources.push_str(" 'none'");
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n{MARK}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:; script-src{sources}\"/>\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"{ICON}\"/>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n{elements}</body>\n</html>\n"
    )
}

/// Text as it is written in HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A value as data for a script: JSON that no markup can end.
pub(crate) fn data(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data").replace('<', "\\u003c")
}

/// A value of JSON as names and simple values.
pub fn flatten(rows: &mut Vec<Vec<String>>, name: String, value: &serde_json::Value) {
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
        let text = frame("A page", "", "", &["let x = 1;\n"]);
        let policy = "script-src 'sha256-PCA06x5AClOd4MjKmg3RZDFBTufKR2vjtf2Rt+9Kt3s='\"";
        assert!(text.contains(policy) && text.contains("<script>\nlet x = 1;\n</script>"), "{text}");
        assert!(frame("A page", "", "", &[]).contains("script-src 'none'\""));
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
