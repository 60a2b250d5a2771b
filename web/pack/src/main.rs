//! Packs the compiled module and the page into `web/dist`: `dyad-web-pack MODULE.wasm PAGE DIST REVISION`.
//!
//! A page that was opened from a folder may neither fetch files nor start workers from them. So the module becomes a
//! script, `engine.js`, with the glue code of wasm-bindgen and the module itself, compressed and in base64.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use wasm_bindgen_cli_support::Bindgen;

/// Name of the module in the page's code.
const NAME: &str = "dyad_web";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, page, dist, revision] = &arguments[..] else {
        return Err("usage: dyad-web-pack MODULE.wasm PAGE DIST REVISION".into());
    };
    let (page, dist) = (Path::new(page), Path::new(dist));
    let glue_folder = Path::new(module).with_file_name("glue");
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).no_modules(true)?.typescript(false).out_name(NAME);
    bindgen.remove_name_section(true).remove_producers_section(true).generate(&glue_folder)?;
    let glue = fs::read_to_string(glue_folder.join(NAME).with_extension("js"))?;
    let module = fs::read(glue_folder.join(format!("{NAME}_bg.wasm")))?;

    if dist.exists() {
        fs::remove_dir_all(dist)?;
    }
    fs::create_dir_all(dist)?;
    let mut files = fs::read_dir(page)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    let mut checksum = Crc::new();
    checksum.update(&module);
    for file in files {
        checksum.update(&fs::read(&file)?);
        fs::copy(&file, dist.join(file.file_name().ok_or("a file without a name")?))?;
    }
    put_pieces(&dist.join("index.html"))?;
    let offline = dist.join("offline.js");
    // Another build is another revision, also of the same commit.
    let build = format!("{revision}-{:08x}", checksum.sum());
    fs::write(&offline, fs::read_to_string(&offline)?.replace("REVISION", &build))?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&module)?;
    let packed = encoder.finish()?;
    let script = format!(
        "globalThis.DYAD = {{\n  version: {},\n  revision: {},\n  glue: {},\n  wasm: \"{}\",\n}};\n",
        quoted(env!("CARGO_PKG_VERSION"))?,
        quoted(revision)?,
        quoted(&glue)?,
        STANDARD.encode(&packed)
    );
    fs::write(dist.join("engine.js"), &script)?;
    eprintln!(
        "{}: module {} KB, compressed {} KB, engine.js {} KB",
        dist.display(),
        module.len() / 1000,
        packed.len() / 1000,
        script.len() / 1000
    );
    Ok(())
}

/// The pieces of annotated games.
const PIECES: &str = include_str!("../../../trainer/src/annotate/assets/pieces.svg");

/// Puts the pieces into the page. Its Content-Security-Policy forbids style attributes.
fn put_pieces(page: &Path) -> std::io::Result<()> {
    let pieces = PIECES.replace(" style=\"position:absolute\"", "");
    fs::write(page, fs::read_to_string(page)?.replace("<!-- pieces.svg -->", &pieces))
}

/// A string of JavaScript. `</script` would end an inline script.
fn quoted(text: &str) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(text)?.replace('<', "\\u003c"))
}
