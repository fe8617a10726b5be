//! The stand-in for tasks, without feature `ext-tasks`: there are none.
