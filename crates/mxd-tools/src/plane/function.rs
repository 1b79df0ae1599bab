//! A tool that is a function of the program which holds the plane.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::builtin::Context;
use crate::outcome::Outcome;

/// What a function comes to, some time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

type Run = dyn for<'a> Fn(Value, Context<'a>) -> Answer<'a> + Send + Sync;

/// A function that can be registered as a tool: it takes arguments that fit the tool's schema. Cheap to clone.
#[derive(Clone)]
pub struct Function(Arc<Run>);

impl Function {
    /// This function.
    pub fn new(run: impl for<'a> Fn(Value, Context<'a>) -> Answer<'a> + Send + Sync + 'static) -> Self {
        Self(Arc::new(run))
    }

    pub(super) async fn run(&self, args: Value, context: Context<'_>) -> Outcome {
        (self.0)(args, context).await
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}
