//! Messages by method: one type for the requests of all methods, one for notifications, one for responses.

use std::fmt::Debug;

use crate::fault::Fault;
use crate::id::RequestId;
use crate::json::Extra;
use crate::map::Map;
use crate::object::{Members, Record};
use crate::reader::{Decode, Reader};
use crate::writer::{Encode, Writer};

/// A method of one revision, as a type: [`method!`](crate::method!) declares one.
pub trait Method: Debug + Clone + PartialEq + 'static {
    /// The method, such as `tools/call`.
    const METHOD: &'static str;
    /// Whether a message must carry params.
    const PARAMS_REQUIRED: bool;
    /// What a message carries.
    type Params: Decode + Encode;
    /// The params as a message holds them: an `Option` where they may be left out.
    type Held: From<Self::Params> + Decode + Encode + Debug + Clone + PartialEq;

    /// Returns the params that a message holds.
    fn params(held: &Self::Held) -> Option<&Self::Params>;
}

/// A method whose messages are answered.
pub trait RequestMethod: Method {
    /// What answers it.
    type Result: Decode + Encode + Debug + Clone + PartialEq;
}

/// A method whose messages are not answered.
pub trait NotificationMethod: Method {}

/// A request of one revision.
pub trait Request: Decode + Encode + Debug + Clone + PartialEq {
    /// The method, such as `tools/call`.
    const METHOD: &'static str;
    /// What the request carries.
    type Params: Decode + Encode;
    /// What answers it.
    type Result: Decode + Encode + Debug + Clone + PartialEq;
}

/// A notification of one revision.
pub trait Notification: Decode + Encode {
    /// The method, such as `notifications/progress`.
    const METHOD: &'static str;
    /// What the notification carries.
    type Params: Decode + Encode;
}

/// Declares a [`Method`]: its type, its name, whether its params are `required` or `optional`, their type, and the
/// type of the result if it is answered.
///
/// ```
/// use mcp_wire::{Json, RequestOf};
///
/// mcp_wire::method!(EchoMethod "echo" optional Json => Json);
///
/// let request: RequestOf<EchoMethod> = mcp_wire::from_str(r#"{"jsonrpc":"2.0","method":"echo","id":1}"#)?;
/// assert_eq!(request, RequestOf::without_params(1));
/// # Ok::<(), mcp_wire::Error>(())
/// ```
#[macro_export]
macro_rules! method {
    ($name:ident $method:literal $need:ident $params:ty => $result:ty) => {
        $crate::method!(@all $name $method $need $params);

        impl $crate::RequestMethod for $name {
            type Result = $result;
        }
    };
    ($name:ident $method:literal $need:ident $params:ty) => {
        $crate::method!(@all $name $method $need $params);

        impl $crate::NotificationMethod for $name {}
    };
    (@all $name:ident $method:literal $need:ident $params:ty) => {
        // The name is a text of a schema, and no doc line: rustdoc would run what it holds.
        /// A method, by the name in its `METHOD`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {}

        impl $crate::Method for $name {
            const METHOD: &'static str = $method;
            type Params = $params;
            $crate::method!(@$need $params);
        }
    };
    (@required $params:ty) => {
        const PARAMS_REQUIRED: bool = true;
        type Held = $params;

        fn params(held: &$params) -> ::core::option::Option<&$params> {
            Some(held)
        }
    };
    (@optional $params:ty) => {
        const PARAMS_REQUIRED: bool = false;
        type Held = ::core::option::Option<$params>;

        fn params(held: &Self::Held) -> ::core::option::Option<&$params> {
            held.as_ref()
        }
    };
}

/// A request of the method `M`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOf<M: Method> {
    /// Comes back with the response; unique among the open requests of the sender.
    pub id: RequestId,
    /// What the request carries.
    pub params: M::Held,
    /// Members that the revision does not name, in the order in which they stood.
    pub extra: Extra,
}

/// A notification of the method `M`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationOf<M: Method> {
    /// What the notification carries.
    pub params: M::Held,
    /// Members that the revision does not name, in the order in which they stood.
    pub extra: Extra,
}

/// A request or notification of the method `M` without its JSON-RPC envelope: method and params.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareOf<M: Method> {
    /// What the message carries.
    pub params: M::Held,
    /// Members that the revision does not name, in the order in which they stood.
    pub extra: Extra,
}

/// The response to a request `R` that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseOf<R: Request> {
    /// The id of the request.
    pub id: RequestId,
    /// What answers the request.
    pub result: R::Result,
    /// Members that the revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl<M: Method> RequestOf<M> {
    /// Creates a request with its params.
    pub fn new(id: impl Into<RequestId>, params: impl Into<M::Params>) -> Self {
        Self {
            id: id.into(),
            params: params.into().into(),
            extra: Map::new(),
        }
    }

    /// Creates a request without params.
    pub fn without_params(id: impl Into<RequestId>) -> Self
    where
        M::Held: Default,
    {
        Self {
            id: id.into(),
            params: Default::default(),
            extra: Map::new(),
        }
    }
}

macro_rules! constructors {
    ($($type:ident),*) => {$(
        impl<M: Method> $type<M> {
            /// Creates a message with its params.
            pub fn new(params: impl Into<M::Params>) -> Self {
                Self {
                    params: params.into().into(),
                    extra: Map::new(),
                }
            }

            /// Creates a message without params.
            #[must_use]
            pub fn without_params() -> Self
            where
                M::Held: Default,
            {
                Self {
                    params: Default::default(),
                    extra: Map::new(),
                }
            }
        }
    )*};
}

constructors!(NotificationOf, BareOf);

impl<R: Request> ResponseOf<R> {
    /// Creates the response to the request of this id.
    pub fn new(id: impl Into<RequestId>, result: impl Into<R::Result>) -> Self {
        Self {
            id: id.into(),
            result: result.into(),
            extra: Map::new(),
        }
    }
}

impl<M: RequestMethod> Request for RequestOf<M> {
    const METHOD: &'static str = M::METHOD;
    type Params = M::Params;
    type Result = M::Result;
}

impl<M: RequestMethod> Request for BareOf<M> {
    const METHOD: &'static str = M::METHOD;
    type Params = M::Params;
    type Result = M::Result;
}

impl<M: NotificationMethod> Notification for NotificationOf<M> {
    const METHOD: &'static str = M::METHOD;
    type Params = M::Params;
}

impl<M: NotificationMethod> Notification for BareOf<M> {
    const METHOD: &'static str = M::METHOD;
    type Params = M::Params;
}

/// Implements reading and writing of a message: what faults call it, its constants and its id by their places, and its
/// payload, which comes last, must be there if `$required`, and is written where `$written` returns it.
macro_rules! message {
    ($type:ident<$of:ident: $bound:ident>, $name:expr, [$($at:literal $wire:literal = $value:expr),*],
        [$($id_at:literal $id:ident)?], $last:literal $payload:ident, $required:expr, $written:expr) => {
        impl<$of: $bound> Decode for $type<$of> {
            fn blank() -> Self {
                Self { $($id: Decode::blank(),)? $payload: Decode::blank(), extra: Map::new() }
            }

            fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
                let members = const {
                    let names = &[$($wire,)* $(stringify!($id),)? stringify!($payload)];
                    &Members::table($name, names, ((1 << $last) - 1) | (($required as u128) << $last), false)
                };
                reader.record(members, self)
            }
        }

        impl<$of: $bound> Record for $type<$of> {
            fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
                match index {
                    $($at => reader.constant($value),)*
                    $($id_at => self.$id.fill(reader),)?
                    _ => self.$payload.fill(reader),
                }
            }

            fn extra(&mut self) -> Option<&mut Extra> {
                Some(&mut self.extra)
            }
        }

        impl<$of: $bound> Encode for $type<$of> {
            fn encode(&self, writer: &mut Writer) {
                let mut object = writer.object();
                $($crate::record!(@constant constant object, $wire, $value);)*
                $(object.member(stringify!($id), &self.$id);)?
                object.optional(stringify!($payload), &$written(&self.$payload));
                object.extra(&self.extra);
                object.end();
            }
        }

        crate::serde_bridge!(<$of: $bound> $type<$of>);
    };
}

message!(RequestOf<M: Method>, M::METHOD, [0 "jsonrpc" = "2.0", 1 "method" = M::METHOD], [2 id],
    3 params, M::PARAMS_REQUIRED, M::params);
message!(NotificationOf<M: Method>, M::METHOD, [0 "jsonrpc" = "2.0", 1 "method" = M::METHOD], [],
    2 params, M::PARAMS_REQUIRED, M::params);
message!(BareOf<M: Method>, M::METHOD, [0 "method" = M::METHOD], [],
    1 params, M::PARAMS_REQUIRED, M::params);
message!(ResponseOf<R: Request>, "response", [0 "jsonrpc" = "2.0"], [1 id],
    2 result, true, Some);
