//! Reading and writing the types of `run`.

use mcp_wire::{Decode, Encode, Fault, Members, Paths, Reader, Writer};

use crate::{RunOutcome, RunRequest, RunResult, TaskResult};

impl Decode for RunOutcome {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static PATHS: Paths = Paths::new("RunOutcome", &[&["output"], &["task"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => reader.value().map(Self::Run),
            Some(_) => reader.value().map(Self::Task),
            None => Err(reader.undecided(&PATHS)),
        }
    }
}

impl Encode for RunOutcome {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Run(value) => value.encode(writer),
            Self::Task(value) => value.encode(writer),
        }
    }
}

impl Decode for RunRequest {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("RunRequest", &["method"]);
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            reader.constant("run/now")?;
        }
        object.require_seen(0)?;
        Ok(Self { extra: object.into_extra() })
    }
}

impl Encode for RunRequest {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("method", "run/now");
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for RunResult {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("RunResult", &["output"]);
        let mut output = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            output = Some(reader.value()?);
        }
        Ok(Self {
            output: object.require(0, output)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for RunResult {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("output", &self.output);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for TaskResult {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TaskResult", &["task"]);
        let mut task = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            task = Some(reader.value()?);
        }
        Ok(Self {
            task: object.require(0, task)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for TaskResult {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("task", &self.task);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(RunOutcome, RunRequest, RunResult, TaskResult);
