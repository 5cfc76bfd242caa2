"""SCIP, the exchange format of code indexers: compiler-accurate indexes in, our graph out."""
