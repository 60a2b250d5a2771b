//! The placement part of the evaluation, kept while search moves about.
//!
//! Making a move only notes what it changed. Sums are worked out when a position is evaluated, from the
//! nearest position above it that has them, and stay there for its other descendants; positions that search
//! leaves without evaluating cost nothing. A change is a row of the fast tables for each man that left
//! or came, over the list of the men that stayed.
//!
//! On x86-64 with AVX2 eight entries are gathered at once, which makes the 2-tuples a sixth cheaper (43 against
//! 51 ns a move and evaluation on a Xeon); the processor is asked when an accumulator is made.

use super::compiled::Compiled;
use super::tables::{NO_PIECE, PACKED_PIECES, PackedPiece, Row, Rows, Turn, packed_piece, piece_of, turn};
use crate::board::{Board, Delta};

/// Sums of material, location and 2-tuples for a line of positions.
#[derive(Clone, Debug)]
pub struct Accumulator {
    stack: Vec<Entry>,
    top: usize,
    kernel: Kernel,
}

/// One position of the line.
#[derive(Clone, Debug)]
struct Entry {
    change: Change,
    known: bool,
    men: Men,
    sums: [i32; 2],
}

/// What a move took away and put down.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    removed: [PackedPiece; 2],
    added: [PackedPiece; 2],
    removals: u8,
    additions: u8,
}

/// The men on the board, in no order, and where in the list each square's man is.
#[derive(Clone, Debug)]
struct Men {
    list: [PackedPiece; 32],
    slots: [u8; 64],
    len: usize,
}

impl Accumulator {
    /// For the weights and the position that a line starts from.
    pub fn new(weights: &Compiled, board: &Board) -> Accumulator {
        let root = Entry { change: Change::default(), known: true, men: Men::none(), sums: [0; 2] };
        let mut accumulator = Accumulator { stack: vec![root], top: 0, kernel: Kernel::best() };
        accumulator.reset(weights, board);
        accumulator
    }

    /// Starts a new line.
    ///
    /// If the position is like the one the last line started from (a training searches one sibling after another),
    /// only what is different is worked out.
    pub fn reset(&mut self, weights: &Compiled, board: &Board) {
        let mut men = Men::none();
        board.placed_pieces().for_each(|piece| men.add(packed_piece(piece)));
        self.top = 0;
        let root = &mut self.stack[0];
        let (removed, added) = (root.men.without(&men), men.without(&root.men));
        if removed.len() + added.len() > MOST_DIFFERENT {
            root.sums = fresh(weights, &men, self.kernel);
        } else {
            let (removed, added) = (removed.present(), added.present());
            removed.iter().for_each(|&man| root.men.remove(man));
            add(&mut root.sums, difference(weights, &root.men, removed, added, self.kernel));
        }
        root.men = men;
    }

    /// Starts again from the position the line started from, with other weights.
    pub fn restart(&mut self, weights: &Compiled) {
        self.top = 0;
        let root = &mut self.stack[0];
        root.sums = fresh(weights, &root.men, self.kernel);
    }

    /// Goes on to the position after a move that made this change.
    #[inline]
    pub fn push(&mut self, delta: &Delta) {
        self.top += 1;
        if self.top == self.stack.len() {
            self.stack.push(self.stack[0].clone());
        }
        let entry = &mut self.stack[self.top];
        entry.known = false;
        entry.change = Change::of(delta);
    }

    /// Goes back to the position before.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn pop(&mut self) {
        self.top = self.top.checked_sub(1).expect("as many positions are left as were gone on to");
    }

    /// Opening and endgame sums from White's side.
    #[inline]
    pub fn sums(&mut self, weights: &Compiled) -> [i32; 2] {
        let mut known = self.top;
        while !self.stack[known].known {
            known -= 1;
        }
        while known < self.top {
            let (above, below) = self.stack.split_at_mut(known + 1);
            below[0].follow(&above[known], weights, self.kernel);
            known += 1;
        }
        self.stack[self.top].sums
    }
}

impl Entry {
    /// Works out this position from the one before.
    #[inline]
    fn follow(&mut self, before: &Entry, weights: &Compiled, kernel: Kernel) {
        let removed = &self.change.removed[..usize::from(self.change.removals)];
        let added = &self.change.added[..usize::from(self.change.additions)];
        self.known = true;
        self.sums = before.sums;
        if !weights.rows().is_empty() {
            self.men.clone_from(&before.men);
            removed.iter().for_each(|&man| self.men.remove(man));
        }
        add(&mut self.sums, difference(weights, &self.men, removed, added, kernel));
        if !weights.rows().is_empty() {
            added.iter().for_each(|&man| self.men.add(man));
        }
    }
}

impl Change {
    #[inline]
    fn of(delta: &Delta) -> Change {
        let mut change = Change::default();
        for &piece in delta.removed() {
            change.removed[usize::from(change.removals)] = packed_piece(piece);
            change.removals += 1;
        }
        for &piece in delta.added() {
            change.added[usize::from(change.additions)] = packed_piece(piece);
            change.additions += 1;
        }
        change
    }
}

impl Men {
    fn none() -> Men {
        Men { list: [NO_PIECE; 32], slots: [0; 64], len: 0 }
    }

    #[inline]
    fn add(&mut self, man: PackedPiece) {
        self.list[self.len] = man;
        self.slots[square(man)] = self.len as u8;
        self.len += 1;
    }

    #[inline]
    fn remove(&mut self, man: PackedPiece) {
        let slot = usize::from(self.slots[square(man)]);
        debug_assert_eq!(self.list[slot], man, "{:?} is not there", piece_of(man));
        self.len -= 1;
        let last = self.list[self.len];
        self.list[slot] = last;
        self.slots[square(last)] = slot as u8;
        self.list[self.len] = NO_PIECE;
    }

    /// Those of these men who are not among the others.
    fn without(&self, others: &Men) -> Men {
        let mut left = Men::none();
        let stands = |man: PackedPiece| others.present().get(usize::from(others.slots[square(man)])) == Some(&man);
        self.present().iter().filter(|&&man| !stands(man)).for_each(|&man| left.add(man));
        left
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn present(&self) -> &[PackedPiece] {
        &self.list[..self.len]
    }
}

#[inline(always)]
fn square(man: PackedPiece) -> usize {
    usize::from(man & 63)
}

/// With more men different than this, all are placed anew.
const MOST_DIFFERENT: usize = 10;

/// What changes when some men leave and some come beside those who stayed.
#[inline(always)]
fn difference(
    weights: &Compiled,
    stayed: &Men,
    removed: &[PackedPiece],
    added: &[PackedPiece],
    kernel: Kernel,
) -> [i32; 2] {
    let (squares, rows) = (weights.squares(), weights.rows());
    let mut sums = [0; 2];
    added.iter().for_each(|&man| add(&mut sums, squares.get(man)));
    removed.iter().for_each(|&man| subtract(&mut sums, squares.get(man)));
    if !rows.is_empty() {
        add(&mut sums, kernel.change(rows, stayed, removed, added));
        add(&mut sums, among(rows, added));
        subtract(&mut sums, among(rows, removed));
    }
    sums
}

/// What these men bring with each other.
#[inline(always)]
fn among(rows: &Rows, men: &[PackedPiece]) -> [i32; 2] {
    let mut sums = [0; 2];
    for (index, &man) in men.iter().enumerate() {
        men[..index].iter().for_each(|&other| add(&mut sums, rows.entry(man, other)));
    }
    sums
}

fn fresh(weights: &Compiled, men: &Men, kernel: Kernel) -> [i32; 2] {
    let (mut sums, mut placed) = ([0; 2], Men::none());
    for &man in men.present() {
        add(&mut sums, weights.squares().get(man));
        if !weights.rows().is_empty() {
            add(&mut sums, kernel.change(weights.rows(), &placed, &[], &[man]));
        }
        placed.add(man);
    }
    sums
}

#[inline(always)]
fn add(sums: &mut [i32; 2], [mg, eg]: [i32; 2]) {
    *sums = [sums[0] + mg, sums[1] + eg];
}

#[inline(always)]
fn subtract(sums: &mut [i32; 2], [mg, eg]: [i32; 2]) {
    *sums = [sums[0] - mg, sums[1] - eg];
}

/// How rows are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Available),
}

impl Kernel {
    fn best() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        if let Some(available) = avx2::Available::ask() {
            return Kernel::Avx2(available);
        }
        Kernel::Scalar
    }

    /// What the men that came make with those that stayed, less what the men that left made with them.
    #[inline]
    fn change(self, rows: &Rows, stayed: &Men, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
        match self {
            Kernel::Scalar => scalar(rows, stayed, removed, added),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(available) => avx2::change(available, rows, stayed, removed, added),
        }
    }
}

fn scalar(rows: &Rows, stayed: &Men, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
    let mut sums = [0; 2];
    for (men, sign) in [(added, false), (removed, true)] {
        for &man in men {
            let Turn { row, mask, negative } = turn(man);
            let sum = scalar_row(rows.row(row), stayed, mask);
            if sign == negative { add(&mut sums, sum) } else { subtract(&mut sums, sum) }
        }
    }
    sums
}

#[inline]
fn scalar_row(row: &Row, stayed: &Men, mask: PackedPiece) -> [i32; 2] {
    let mut sums = [0; 2];
    for &man in stayed.present() {
        add(&mut sums, row[usize::from(man ^ mask) % PACKED_PIECES].map(i32::from));
    }
    sums
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Men, Turn, turn};
    use crate::eval::tables::{PACKED_PIECES, PackedPiece, Row, Rows};
    use std::arch::x86_64::*;

    /// Proof that this processor has AVX2: there is no other way to make one than to ask it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Available(());

    impl Available {
        pub fn ask() -> Option<Available> {
            is_x86_feature_detected!("avx2").then_some(Available(()))
        }
    }

    #[inline]
    pub fn change(_: Available, rows: &Rows, stayed: &Men, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
        // SAFETY: an `Available` exists, so the processor has AVX2.
        unsafe { sum(rows, stayed, removed, added) }
    }

    #[target_feature(enable = "avx2")]
    fn sum(rows: &Rows, stayed: &Men, removed: &[PackedPiece], added: &[PackedPiece]) -> [i32; 2] {
        let zero = _mm256_setzero_si256();
        let (mut mg, mut eg) = (zero, zero);
        for (men, sign) in [(added, false), (removed, true)] {
            for &man in men {
                let Turn { row, mask, negative } = turn(man);
                let [row_mg, row_eg] = row_sums(rows.row(row), stayed, mask);
                if sign == negative {
                    mg = _mm256_add_epi32(mg, row_mg);
                    eg = _mm256_add_epi32(eg, row_eg);
                } else {
                    mg = _mm256_sub_epi32(mg, row_mg);
                    eg = _mm256_sub_epi32(eg, row_eg);
                }
            }
        }
        horizontal(mg, eg)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn row_sums(row: &Row, stayed: &Men, mask: PackedPiece) -> [__m256i; 2] {
        let mask = _mm256_set1_epi32(i32::from(mask));
        let within = _mm256_set1_epi32(PACKED_PIECES as i32 - 1);
        let low = _mm256_set1_epi32(1);
        let (mut mg, mut eg) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for eight in stayed.list.chunks_exact(8).take(stayed.len.div_ceil(8)) {
            // SAFETY: `eight` is 16 bytes long, and the load may be unaligned.
            let men = unsafe { _mm_loadu_si128(eight.as_ptr().cast()) };
            let turned = _mm256_xor_si256(_mm256_cvtepu16_epi32(men), mask);
            let columns = _mm256_and_si256(turned, within);
            // SAFETY: all columns are below 1024, which is the length of a row, of 4 bytes an entry;
            // gathers may be unaligned.
            let entries = unsafe { _mm256_i32gather_epi32::<4>(row.as_ptr().cast(), columns) };
            // An entry's low half is the opening weight, its high half the endgame weight.
            mg = _mm256_add_epi32(mg, _mm256_madd_epi16(entries, low));
            eg = _mm256_add_epi32(eg, _mm256_srai_epi32::<16>(entries));
        }
        [mg, eg]
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn horizontal(mg: __m256i, eg: __m256i) -> [i32; 2] {
        let pairs = _mm256_hadd_epi32(mg, eg);
        let halves = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
        let sums = _mm_hadd_epi32(halves, halves);
        [_mm_extract_epi32::<0>(sums), _mm_extract_epi32::<1>(sums)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Any men, even those that no game has, and any entries.
    #[test]
    fn kernels_agree() {
        let mut random = Pcg64::seed_from_u64(1);
        let rows = Rows::filled(|| [random.random(), random.random()]);
        // Miri, which watches every access, takes its time.
        let cases = if cfg!(miri) { 70 } else { 500 };
        for count in (0..=32).cycle().take(cases) {
            let mut stayed = Men::none();
            let mut any =
                || random.random_range(0..6) << 6 | random.random_range(0..64) | random.random_range(0..2) << 9;
            (0..count).for_each(|_| stayed.add(any()));
            let (removed, added) = ([any(), any()], [any(), any()]);
            for (removed, added) in [(&removed[..1], &added[..1]), (&removed, &added[..1]), (&removed, &added)] {
                let sums = Kernel::Scalar.change(&rows, &stayed, removed, added);
                assert_eq!(Kernel::best().change(&rows, &stayed, removed, added), sums);
            }
        }
    }
}
