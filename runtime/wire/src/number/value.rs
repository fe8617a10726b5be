//! The exact value of a number's text: `0.digits × 10^point`, for a text of any length.

use std::cmp::Ordering;

/// The mathematical value of a JSON number; equal values have equal fields.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct NumberValue {
    negative: bool,
    /// The significant digits, without zeros at either end; empty for zero.
    digits: Vec<u8>,
    /// How far the decimal point stands to the right of the first digit's left side.
    point: Point,
}

/// A power of ten of any size; equal powers have equal fields.
#[derive(PartialEq, Eq, Hash)]
struct Point {
    negative: bool,
    /// Without leading zeros: zero has none, and is not negative.
    digits: Vec<u8>,
}

const SMALL_DIGITS: usize = 29;

impl NumberValue {
    /// `text` must be a JSON number.
    pub(crate) fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let last = digits.iter().rposition(|&digit| digit != b'0');
        digits.truncate(last.map_or(0, |last| last + 1));
        let zeros = digits.iter().position(|&digit| digit != b'0').unwrap_or(0);
        digits.drain(..zeros);
        if digits.is_empty() {
            return Self {
                negative: false,
                digits,
                point: Point::sum("", 0),
            };
        }
        let point = Point::sum(exponent, whole.len() as i128 - zeros as i128);
        Self {
            negative,
            digits,
            point,
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        let small = self.point.small();
        small.map_or(!self.point.negative, |point| {
            point >= self.digits.len() as i128
        })
    }

    /// Returns the value, if it is an integer of at most 38 digits.
    pub(crate) fn as_i128(&self) -> Option<i128> {
        let Some(point @ 0..=38) = self.point.small() else {
            return None;
        };
        let zeros = usize::try_from(point)
            .ok()?
            .checked_sub(self.digits.len())?;
        let digits = self
            .digits
            .iter()
            .copied()
            .chain(std::iter::repeat_n(b'0', zeros));
        let value = digits.fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
        Some(if self.negative { -value } else { value })
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => self
                .point
                .cmp(&other.point)
                .then_with(|| self.digits.cmp(&other.digits)),
            (a_is_zero, b_is_zero) => b_is_zero.cmp(&a_is_zero),
        }
    }
}

impl PartialOrd for NumberValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NumberValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
            (a, b) => b.cmp(&a),
        }
    }
}

impl Point {
    /// Returns the exponent of a number, as spelled after its `e`, plus `shift`, which is far below 10^29.
    fn sum(exponent: &str, shift: i128) -> Self {
        let negative = exponent.starts_with('-');
        let digits = exponent
            .trim_start_matches(['+', '-'])
            .trim_start_matches('0');
        if digits.len() <= SMALL_DIGITS {
            let exponent: i128 = digits.parse().unwrap_or(0);
            let sum = shift + if negative { -exponent } else { exponent };
            return Self::canonical(sum < 0, sum.unsigned_abs().to_string().into_bytes());
        }
        // The sign stays, as the exponent is the larger of the two: carry the shift through its digits.
        let mut carry = if negative { -shift } else { shift };
        let mut bytes = digits.as_bytes().to_vec();
        for digit in bytes.iter_mut().rev() {
            if carry == 0 {
                break;
            }
            let sum = i128::from(*digit - b'0') + carry;
            *digit = b'0' + sum.rem_euclid(10) as u8;
            carry = sum.div_euclid(10);
        }
        if carry > 0 {
            bytes.splice(..0, carry.to_string().into_bytes());
        }
        Self::canonical(negative, bytes)
    }

    fn canonical(negative: bool, mut digits: Vec<u8>) -> Self {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        Self { negative, digits }
    }

    /// Returns the power, if it has at most [`SMALL_DIGITS`] digits.
    fn small(&self) -> Option<i128> {
        let digits = (self.digits.len() <= SMALL_DIGITS).then(|| self.digits.iter())?;
        let value = digits.fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
        Some(if self.negative { -value } else { value })
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let by_length = self.digits.len().cmp(&other.digits.len());
        by_length.then_with(|| self.digits.cmp(&other.digits))
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
            (a, b) => b.cmp(&a),
        }
    }
}
