"""Questions about tables: what a cell is, what is asked, what comes out, and how it is said."""
