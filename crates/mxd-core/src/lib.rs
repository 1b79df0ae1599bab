//! The domain of Matrix, pure.
