package lean
