"""The read side: pure projections, and the SQL that stores their rows."""
