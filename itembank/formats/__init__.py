"""Files in and out: bytes ↔ content values, one module per format. No tables here."""
