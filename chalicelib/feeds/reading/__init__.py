"""Reads a feed at any URL: RSS, Atom, RDF or JSON Feed in, plain entries out.

`reader.read(url, validators)` makes one polite request and returns the feed, or says that it has not changed;
`model` has what comes out, `Feed` and `Entry`, and `excerpt` turns an entry's HTML into text and an image. `pages`
finds the feeds that a web page names.
Nothing is stored here, and this package knows nothing about campaigns or which feeds are followed: it imports only
the kernel, so any room that follows feeds can use it.
"""
