//! Reading and writing the types of `run`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{RunOutcome, RunRequest, RunResult, TaskResult};

impl RunOutcome {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("RunOutcome", &[&["output"], &["task"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => *self = Self::Run(Decode::blank()),
            Some(_) => *self = Self::Task(Decode::blank()),
            None => return Err(reader.undecided(&PATHS)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    RunOutcome {
        blank Run decide;
        Run(RunResult) as_run;
        Task(TaskResult) as_task;
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
