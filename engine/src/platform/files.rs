//! The file system of a browser, which has no files.

use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile};
use std::io;
use std::path::{Path, PathBuf};

/// Stands in for the type of this name that `shakmaty-syzygy` has for operating systems.
pub(crate) struct OsFilesystem;

impl OsFilesystem {
    pub(crate) fn new() -> OsFilesystem {
        OsFilesystem
    }
}

impl Filesystem for OsFilesystem {
    fn regular_file_size(&self, _path: &Path) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_dir(&self, _path: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open(&self, _path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
