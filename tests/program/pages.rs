//! Pages of weights.

use std::fs;

use crate::driver::{folder, output, refusal, text};

#[test]
fn weights_are_shown() {
    let folder = folder("pages");
    let page = folder.join("page.html");
    let printed = output(&["report", "weights/linear.json", "--out", text(&page)]);
    assert_eq!(printed, [text(&page)]);
    let one = fs::read_to_string(&page).unwrap();
    assert!(one.contains("<h1>Weights: weights/linear.json</h1>") && one.ends_with("</html>\n"));
    // Next to the file, under its name.
    let copy = folder.join("mine.json");
    fs::copy("weights/material.json", &copy).unwrap();
    assert_eq!(output(&["report", text(&copy)]), [text(&folder.join("mine.html"))]);

    for (arguments, reason) in [
        (&["report", "nowhere.json"][..], "nowhere.json"),
        (&["report", text(&folder)], "no log, match or weights file"),
        (&["report", "weights/linear.json", "--out", "weights/linear.json"], "would be lost"),
    ] {
        assert!(refusal(arguments).contains(reason), "{}", refusal(arguments));
    }
}
