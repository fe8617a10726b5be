//! Reading and writing the types of `run`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Paths, Reader, Record, Writer,
};

use crate::{RunOutcome, RunRequest, RunResult, TaskResult};

impl Decode for RunOutcome {
    fn blank() -> Self {
        Self::Run(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("RunOutcome", &[&["output"], &["task"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => *self = Self::Run(Decode::blank()),
            Some(_) => *self = Self::Task(Decode::blank()),
            None => return Err(reader.undecided(&PATHS)),
        }
        match self {
            Self::Run(value) => value.fill(reader),
            Self::Task(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("RunRequest", &["method"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for RunRequest {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.constant("run/now")
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            output: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("RunResult", &["output"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for RunResult {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.output.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            task: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("TaskResult", &["task"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TaskResult {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.task.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
