"""Reads lists that other services export, or that somebody pastes: bytes in, rows out, nothing stored.

    upload = files.open_upload(path, content_type)      # one CSV text, or those in a zip
    reading = recogniser.recognise(upload, wanted)      # format, delimiter, encoding, header, columns, mapping, …
    for row in row_reader.rows(upload, reading):        # `model.Row`, one for each line that is not empty
        ...
    proofs.ProofCounter()                               # after a first pass, tells whose confirmation proves little

- `files.open_upload(path, content_type, name="")` takes a local file, of which only parts are in memory at any time.
  It raises `Invalid` for what cannot be read at all; after that, whatever a file contains becomes rows.
- `model.Wanted` holds what the owner chose: each of delimiter, encoding, header, date format and mapping replaces
  what would be guessed. A mapping is field → column number, replaces the guessed one as a whole, and is meant for
  `Reading.columns`; in a zip, other files are mapped by the names of these columns. Columns that keep somebody from
  being mailed (`model.RESTRICTING`) stay mapped unless they are given another field or `None`:
  `{"email": 0, "status": None}`. A file of a zip that is unlike the main one keeps its own delimiter, encoding and
  columns.
- `Reading.sheets` has what was recognised file by file; `format`, `columns`, `mapping` and so on are those of the
  main one. `Wanted.status` reads the whole upload as, for example, a list of bounces.
- `Row.status` is the most restrictive of everything a row and its file say, so `max` over several rows is right too.
  Files come most restrictive first, and `Row.number` counts up through all of them: the stable order of rows, and
  `rows(upload, reading, skip=n)` goes on after the first `n` without interpreting them again.
- `Row.problem` says why a row cannot be imported; its `address` is None then and only then. `Row.ips` are kept apart
  from `Row.proof`, so that they can be hashed or dropped.

Modules: `files` (zips) → `encodings` (bytes to lines) → `records` (lines to cells) → `recogniser` with `delimiters`,
`headers`, `formats` and `mapping` → `row_reader` with `address_cells`, `statuses`, `dates` and `cells`.
"""
