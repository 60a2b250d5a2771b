//! Pages and figures, for all tools.
//!
//! A page is one self-contained HTML file, so that it can be kept and sent; figures are parts of it.

pub mod figures;
pub mod html;
