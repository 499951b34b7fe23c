"""The write side: deciding appends, one fold per partition."""
