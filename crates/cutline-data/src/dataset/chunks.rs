//! A file that several threads read at once, each at its own position.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// The file. Clones of a [`File`] share one position, so a lock makes seeking and reading a single step.
#[derive(Clone)]
pub(super) struct Chunks {
    file: Arc<Mutex<File>>,
    length: u64,
}

impl Chunks {
    pub(super) fn new(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(position))?;
        file.read(buffer)
    }
}

/// The file from a position on.
pub(super) struct Chunk {
    chunks: Chunks,
    position: u64,
}

impl Read for Chunk {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.chunks.read_at(self.position, buffer)?;
        self.position += n as u64;
        Ok(n)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<Chunk>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Chunk { chunks: self.clone(), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged file may request any length.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        Chunk { chunks: self.clone(), position: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
