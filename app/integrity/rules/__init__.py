"""The rules of the integrity gate, one module for each kind of tampering (proof.md, 9)."""
