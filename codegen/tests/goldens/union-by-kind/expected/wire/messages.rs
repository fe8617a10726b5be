//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Integer, Kind, Number, Paths, Reader};

use crate::{Bag, Batch, Call, Token, Value};

mcp_wire::record! {
    Bag open {
        0 "size": required size;
    }
}

impl Batch {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.first_element()? {
            None => *self = Self::BagList(Decode::blank()),
            Some(mut element) => {
                let reader = &mut element;
                static PATHS: Paths = Paths::new("Batch", &[&["size"], &["method"]]);
                match reader.first_present(&PATHS)? {
                    Some(0) => *self = Self::BagList(Decode::blank()),
                    Some(_) => *self = Self::CallList(Decode::blank()),
                    None => return Err(reader.undecided(&PATHS)),
                }
            }
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Batch {
        blank BagList decide;
        BagList(Vec<Bag>) as_bag_list;
        CallList(Vec<Call>) as_call_list;
    }
}

mcp_wire::record! {
    Call open {
        0 "method": required method;
    }
}

impl Token {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.kind()? {
            Kind::String => *self = Self::String(Decode::blank()),
            Kind::Integer | Kind::Number => *self = Self::Integer(Decode::blank()),
            _ => return Err(reader.refuse("a string or an integer")),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Token {
        blank Integer decide;
        Integer(Integer) as_integer;
        String(String) as_string;
    }
}

impl Value {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.kind()? {
            Kind::Object => *self = Self::Bag(Decode::blank()),
            Kind::Array => *self = Self::List(Decode::blank()),
            Kind::String => *self = Self::String(Decode::blank()),
            Kind::Integer | Kind::Number => *self = Self::Number(Decode::blank()),
            Kind::Boolean => *self = Self::Boolean(Decode::blank()),
            _ => {
                return Err(
                    reader.refuse("an object, an array, a string, a number or a boolean"),
                );
            }
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Value {
        blank String decide;
        String(String) as_string;
        Number(Number) as_number;
        Boolean(bool) as_boolean;
        List(Vec<String>) as_list;
        Bag(Bag) as_bag;
    }
}

mcp_wire::serde_bridge!(Bag, Batch, Call, Token, Value);
