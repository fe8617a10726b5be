//! What Rust brings along, read and written.

use crate::fault::Fault;
use crate::map::Map;
use crate::reader::{Decode, Reader};
use crate::writer::{Encode, Writer};

impl Decode for String {
    #[inline]
    fn blank() -> Self {
        Self::new()
    }

    #[inline]
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = reader.string()?;
        Ok(())
    }
}

impl Encode for String {
    #[inline]
    fn encode(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl Encode for str {
    fn encode(&self, writer: &mut Writer) {
        writer.string(self);
    }
}

impl Decode for bool {
    #[inline]
    fn blank() -> Self {
        false
    }

    #[inline]
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = reader.boolean()?;
        Ok(())
    }
}

impl Encode for bool {
    fn encode(&self, writer: &mut Writer) {
        writer.boolean(*self);
    }
}

impl Encode for i64 {
    fn encode(&self, writer: &mut Writer) {
        writer.integer(*self);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, writer: &mut Writer) {
        (**self).encode(writer);
    }
}

impl<T: Decode> Decode for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        (**self).fill(reader)
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    fn encode(&self, writer: &mut Writer) {
        (**self).encode(writer);
    }
}

/// `null` is `None`: for a member that is required but may be `null`.
impl<T: Decode> Decode for Option<T> {
    #[inline]
    fn blank() -> Self {
        None
    }

    #[inline]
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        if reader.null()? {
            Ok(())
        } else {
            self.insert(T::blank()).fill(reader)
        }
    }
}

/// `None` is `null`: for a member that is required but may be `null`.
impl<T: Encode> Encode for Option<T> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Some(value) => value.encode(writer),
            None => writer.null(),
        }
    }
}

impl<T: Decode> Decode for Vec<T> {
    #[inline]
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let mut array = reader.array()?;
        while array.next(reader)? {
            self.push(T::blank());
            let start = reader.offset();
            if let Some(item) = self.last_mut()
                && let Err(fault) = item.fill(reader)
            {
                reader.mend_entry(start, false, fault)?;
            }
        }
        Ok(())
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, writer: &mut Writer) {
        let mut array = writer.array();
        for item in self {
            array.element(item);
        }
        array.end();
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, writer: &mut Writer) {
        self.as_slice().encode(writer);
    }
}

impl<T: Decode> Decode for Map<T> {
    #[inline]
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.members(self)
    }
}

impl<T: Encode> Encode for Map<T> {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.extra(self);
        object.end();
    }
}
