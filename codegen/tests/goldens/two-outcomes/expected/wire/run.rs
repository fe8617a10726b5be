//! Reading and writing the types of `run`.

use mcp_wire::{Decode, Encode, Fault, Paths, Reader, Writer};

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

mcp_wire::record! {
    RunRequest open {
        const 0 "method": constant("run/now");
    }
}

mcp_wire::record! {
    RunResult open {
        0 "output": required output;
    }
}

mcp_wire::record! {
    TaskResult open {
        0 "task": required task;
    }
}

mcp_wire::serde_bridge!(RunOutcome, RunRequest, RunResult, TaskResult);
