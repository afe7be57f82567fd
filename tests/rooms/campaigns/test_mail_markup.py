"""Markup that newsletters are really made of survives: what mail builders make, and what people write by hand."""

import pytest
from msgspec.structs import replace

from chalicelib.campaigns.content import renderer, sanitise, styles
from chalicelib.kernel import publication, settings
from tests.rooms.campaigns.rendering import detail, mailed

BUTTON = (
    '<table border="0" cellpadding="0" cellspacing="0" role="presentation" align="center"'
    ' style="border-collapse:separate">'
    '<tr><td align="center" bgcolor="#e4572e" role="presentation" valign="middle" height="40" nowrap'
    ' style="border:none;border-radius:6px;mso-padding-alt:10px;background:#e4572e">'
    '<a href="https://example.org/" target="_blank" style="display:inline-block;background:#e4572e;color:#ffffff;'
    'font:bold 15px/18px Ubuntu,Helvetica;text-decoration:none;padding:10px 25px">Read on</a></td></tr></table>'
)


@pytest.fixture(autouse=True, params=publication.DESIGNS)
def _in_every_design(request, monkeypatch):
    shown = replace(publication.from_settings(settings.current()), design=request.param)
    monkeypatch.setattr(publication, "current", lambda: shown)


def cleaned(body: str) -> str:
    return sanitise.clean(body, "https://news.example.org", lambda value: value)


@pytest.mark.parametrize(
    "style",
    ["background:#0b3d5c", "background:rgb(1, 2, 3)", "display:block", "display:inline-block", "display:none",
     "font:italic bold 13px/18px Georgia, 'Times New Roman', serif",
     "background:linear-gradient(90deg,#fff,rgba(0,0,0,.5))",
     "border-top-left-radius:4px", "border-bottom-color:#eee", "table-layout:fixed", "word-break:break-word",
     "direction:rtl", "overflow:hidden", "list-style:none", "cursor:auto", "visibility:hidden",
     "width:calc(100% - 20px)", "display:block !important"],
)  # fmt: skip
def test_a_safe_style_stays(style):
    assert styles.clean(style) == style
    assert renderer.render(detail(f'<p style="{style}">x</p>')).removed == ()


@pytest.mark.parametrize(
    ("style", "left"),
    [
        ("background:#fff url(https://x/y.png) no-repeat", "background-color:#fff"),
        ("background:url('https://x/y.png#abc') center / cover, white", "background-color:white"),
        ("background:URL( https://x ) rgb(0,0,0)", "background-color:rgb(0,0,0)"),
        ("background:url(https://x", ""),
        ("background-image:url(https://x)", ""),
        ("list-style:url(https://x)", ""),
        ("font:12px url(x)", ""),
        ("background:linear-gradient(red,url(https://x))", "background-color:red"),
        ("background:image-set('https://x' 1x)", ""),
        ("background:u\\72l(https://x)", ""),
        ("background:/**/url/**/(https://x)", ""),
        ("color:red;background:url(https://x);width:1px", "color:red;width:1px"),
        ("font-family:'a;background:url(https://x)", ""),
        ("background:url(data:image/png;base64,x);color:red", "color:red"),
        ("color:red;" + "(" * 500, "color:red"),
        ("color:red}p{background:url(https://x)", ""),
        ("@import 'x';color:red", "color:red"),
        ("position:fixed;top:0;z-index:9;transform:scale(9);color:red", "color:red"),
        ("display:flex;color:red", "color:red"),
        ("width:expression(alert(1));behavior:url(x);-moz-binding:url(x)", ""),
        ("COLOR: Red;Display:BLOCK", "color:Red;display:BLOCK"),
    ],
)
def test_no_style_loads_or_covers_anything(style, left):
    assert styles.clean(style) == left
    assert "url" not in mailed(f'<p style="{style.replace(chr(34), "")}">x</p>').html.partition('class="body"')[2]


def test_a_button_of_a_mail_builder_looks_as_it_was_made():
    mailing = renderer.render(detail(BUTTON))
    assert mailing.removed == ()
    for piece in (
        'bgcolor="#e4572e"', 'cellpadding="0"', 'role="presentation"', 'valign="middle"', 'align="center"',
        'nowrap=""', "display: inline-block", "background: #e4572e", "font: bold 15px/18px Ubuntu,Helvetica",
        "border-radius: 6px",
    ):  # fmt: skip
        assert piece in mailing.html.replace(":", ": ").replace(":  ", ": "), piece


def test_columns_keep_their_width():
    page = mailed(
        '<table><colgroup><col width="120"><col span="2" style="width:80px"></colgroup><tr><td>x</table>'
    ).html
    assert '<col width="120">' in page
    assert '<col span="2" style="width' in page


@pytest.mark.parametrize("tag", ["section", "header", "footer", "nav", "main", "article", "aside", "hgroup"])
def test_divisions_stay_apart(tag):
    message = mailed(f'<{tag} style="background:#123456">One</{tag}><{tag} align="center">Two</{tag}>Three')
    assert '<div style="background:#123456' in message.html.replace(": ", ":")
    assert '<div align="center">Two</div>' in message.html
    assert f"<{tag}" not in message.html
    assert message.text.startswith("One\n\nTwo\n\nThree\n")
    assert renderer.render(detail(f"<{tag}>x</{tag}>")).removed == ()


def test_an_attribute_that_looks_like_a_tag_stays_what_it_is():
    assert cleaned('<img src="https://x/y.png" alt="a <section> b">').count("&lt;section&gt;") == 1


def test_hidden_text_is_not_in_the_plain_text_and_nbsp_is_a_space():
    body = (
        '<div style="display:none;max-height:0">Preview<br><b>text</b> &nbsp;&zwnj;</div><p>One&nbsp;word</p>'
        '<p>&nbsp;</p><p>Two <span style="DISPLAY: none !important">three</span>four</p>'
    )
    message = mailed(body)
    assert message.text.startswith("One word\n\nTwo four\n")
    assert "Preview<br>" in message.html


def test_what_nobody_misses_is_not_reported():
    body = (
        '<p class="x" id="y" data-z="1" mc:edit="e"'
        ' style="mso-line-height-rule:exactly;-webkit-text-size-adjust:100%">a</p>'
        '<img class="w" src="https://x/y.png" alt="" loading="lazy" srcset="https://x/z.png 2x"><!-- c -->'
        "<!--[if mso]><v:rect><![endif]--><![if !mso]>b<![endif]>"
    )
    assert renderer.render(detail(body)).removed == ()


def test_a_body_with_its_own_backgrounds_is_light_for_everybody():
    """Its text would be recoloured in the dark, and its backgrounds would not."""
    own = mailed('<td bgcolor="#ffffff"></td><p style="color:#222;background:#fff">x</p>').html
    assert "prefers-color-scheme" not in own
    assert '<meta name="color-scheme" content="light only">' in own
    for body in ("<p style='color:#222'>x</p>", "<p style='background:transparent'>x</p>"):
        assert "prefers-color-scheme: dark" in mailed(body).html


def test_only_plain_tables_get_lines():
    plain, layout = mailed("<table><tr><td>x</td></tr></table>").html, mailed(BUTTON).html
    assert "border-bottom: 1px solid #e5e7eb" in plain.partition('class="body"')[2].partition('class="foot"')[0]
    assert "border-bottom" not in layout.partition('class="body"')[2].partition('class="foot"')[0]
