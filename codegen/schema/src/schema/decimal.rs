//! Decimal numbers as they are spelled, of which the machine's numbers only come near.

use serde_json::Value;

/// A number: its digits, and by how many places they stand behind the point.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: i128,
    places: u32,
}

/// Maximum number of digits to read: as many as can still be moved to the places of another number.
const MAX_DIGITS: i64 = 30;

impl Decimal {
    fn of(value: &Value) -> Option<Self> {
        let text = value.as_number()?.to_string();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let power: i64 = exponent.parse().ok()?;
        let places = i64::try_from(fraction.len()).ok()?.checked_sub(power)?;
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        if !(-MAX_DIGITS..=MAX_DIGITS).contains(&places) {
            return None;
        }
        let zeros = u32::try_from(-places).unwrap_or(0);
        Some(Self {
            digits: digits.checked_mul(10_i128.checked_pow(zeros)?)?,
            places: u32::try_from(places).unwrap_or(0),
        })
    }

    fn at(self, places: u32) -> Option<i128> {
        let moved = 10_i128.checked_pow(places.checked_sub(self.places)?)?;
        self.digits.checked_mul(moved)
    }
}

/// Returns whether a number is a multiple of another one; `None` for values that are not numbers, zero as the other one, and numbers
/// that are too long.
pub fn is_multiple(number: &Value, of: &Value) -> Option<bool> {
    let (number, of) = (Decimal::of(number)?, Decimal::of(of)?);
    let places = number.places.max(of.places);
    let rest = number.at(places)?.checked_rem(of.at(places)?)?;
    Some(rest == 0)
}
