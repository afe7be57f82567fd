"""Whole feeds as real software writes them, small enough to be cut at every byte."""

WORDPRESS = """<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
\txmlns:content="http://purl.org/rss/1.0/modules/content/"
\txmlns:dc="http://purl.org/dc/elements/1.1/"
\txmlns:atom="http://www.w3.org/2005/Atom"
\t>
<channel>
\t<title>Žahour &#8211; notes</title>
\t<atom:link href="https://blog.example.org/feed/" rel="self" type="application/rss+xml" />
\t<link>https://blog.example.org</link>
\t<item>
\t\t<title>New post about &#8220;RSS&#8221; &amp; Atom &#x1F389;</title>
\t\t<link>https://blog.example.org/2026/11/new-post/</link>
\t\t<dc:creator><![CDATA[Ada]]></dc:creator>
\t\t<pubDate>Mon, 16 Nov 2026 08:00:00 +0000</pubDate>
\t\t<guid isPermaLink="false">https://blog.example.org/?post_type=note&#038;p=12&amp;x=1</guid>
\t\t<description><![CDATA[<p>A feed ends with </rss>, an item with </item> &#8230; a kůň.</p>]]></description>
\t\t<content:encoded><![CDATA[<p>A feed ends with <code>&lt;/rss></code>]]>]]&gt;<![CDATA[.</p>]]></content:encoded>
\t</item>
\t<item>
\t\t<title>Older</title>
\t\t<link>https://blog.example.org/older/?a=1&amp;b=2</link>
\t\t<pubDate>Sun, 15 Nov 2026 08:00:00 +0000</pubDate>
\t\t<guid isPermaLink="false">https://blog.example.org/?p=11</guid>
\t\t<description>&lt;p&gt;Tom &amp;amp; Jerry&lt;/p&gt;</description>
\t</item>
</channel>
</rss>

<!-- Dynamic page generated in 0.391 seconds – žádná -->
"""

ATOM = """<?xml version="1.0" encoding="utf-8"?>
<a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:lang="de">
<a:title>Grüße</a:title><a:link rel="self" href="https://blog.example.org/atom.xml"/>
<a:link rel="hub" href="https://hub.example.org/"/>
<a:entry><a:id>tag:blog.example.org,2026:1</a:id><a:title type="html">Eins &amp;amp; &lt;b&gt;zwei&lt;/b&gt;</a:title>
<a:link href="https://blog.example.org/1"/><a:updated>2026-11-16T08:00:00Z</a:updated>
<a:content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Über <em>Bäume</em>.<br/></p></div></a:content>
</a:entry>
<a:entry><a:id>tag:blog.example.org,2026:2</a:id><a:title>Zwei</a:title><a:updated>2026-11-15T08:00:00Z</a:updated>
<a:link href="https://blog.example.org/2"/><a:summary type="text">1 &lt; 2</a:summary></a:entry>
</a:feed>
"""

RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://blog.example.org/"><title>Old</title><link>https://blog.example.org/</link></channel>
<item rdf:about="https://blog.example.org/one"><title>One</title><link>https://blog.example.org/one</link>
<description>The first of them</description></item>
<item rdf:about="https://blog.example.org/two"><title>Two</title><link>https://blog.example.org/two</link></item>
</rdf:RDF>
"""

# Not XML: `&` and `&nbsp;` in the open, an element that is never closed, a script added by the host.
LENIENT = """<rss version="2.0"><channel><title>Q & A</title><link>https://blog.example.org/</link>
<item><title>Fish & chips&nbsp;today</title><link>https://blog.example.org/?a=1&b=2</link><guid>g-1</guid>
<description><p>Bread <br> butter & <b>jam</p></description></item>
<item><title>Tea</title><link>https://blog.example.org/tea</link><guid>g-0</guid></item>
</channel></rss>
<script src="https://host.example.org/count.js"></script>
"""

JSON = """{"version": "https://jsonfeed.org/version/1.1", "title": "Žahour", "items": [
{"id": "1", "url": "https://blog.example.org/1", "title": "One \\ud83c\\udf89", "content_html": "<p>Hi 🎉</p>"},
{"id": 2, "url": "https://blog.example.org/2", "title": "Two", "content_text": "{}"}]}
"""

ALL = {"wordpress": WORDPRESS, "atom": ATOM, "rdf": RDF, "lenient": LENIENT, "json": JSON}
