//! calls
