"""Files of other tools as events: one module a format, each a pure function over bytes."""
