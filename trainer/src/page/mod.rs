//! Pages and figures, as every tool makes them that shows something.
//!
//! A page is one file of HTML without scripts, fonts or pictures from elsewhere, so that it can be kept and sent; a figure is a
//! piece of one. What stands on them is the business of others.

pub(crate) mod figures;
pub(crate) mod html;
