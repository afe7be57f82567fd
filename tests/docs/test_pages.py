"""The documentation agrees with the code and with itself."""

import re
from collections.abc import Iterator, Mapping

import pytest

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured
from tests.docs import pages
from tests.docs.pages import ROOT

README = ROOT / "README.md"
_CELLS = 3


class Asked(Mapping[str, str]):
    """An empty environment that remembers what it was asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return False

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def described() -> dict[str, tuple[str, str]]:
    """Default and rule of every setting, as the README's tables have them."""
    named = [row for row in pages.rows(README) if len(row) == _CELLS and re.fullmatch(r"`[A-Z_]+`", row[0])]
    return {name.strip("`"): (default.strip("`"), rule) for name, default, rule in named}


def test_the_readme_describes_every_setting_and_no_other():
    asked = Asked()
    settings.load(asked)
    assert set(described()) == asked.names | {*settings._SECRETS, "SECRETS_PATH"}


@pytest.mark.parametrize("name", sorted(described()))
def test_the_default_is_as_described(name):
    default, _ = described()[name]
    if default not in ("-", "FROM_EMAIL") and " " not in default:
        assert settings.load({name: default}) == settings.load({})
        assert settings.load({name: ""}) == settings.load({})


def test_what_is_described_without_a_default_has_none():
    without = {name for name, (default, _) in described().items() if default == "-"}
    assert {getattr(settings.load({}), name, "") for name in ("feed_url", "from_email", "event_bus")} == {""}
    assert {"FEED_URL", "FROM_EMAIL", "EVENT_BUS", "SECRET_KEY"} <= without


@pytest.mark.parametrize("name", sorted(n for n, (_, rule) in described().items() if re.search(r"\d to \d", rule)))
def test_the_bounds_are_as_described(name):
    least, most = map(int, re.search(r"(\d+) to (\d+)", described()[name][1]).groups())
    for good in (least, most):
        settings.load({name: str(good)})
    for bad in (least - 1, most + 1):
        with pytest.raises(Misconfigured, match=name):
            settings.load({name: str(bad)})


def test_what_is_called_true_or_false_is_one():
    for name, (default, _) in described().items():
        if default in ("true", "false"):
            with pytest.raises(Misconfigured, match="must be true or false"):
                settings.load({name: "maybe"})


@pytest.mark.parametrize(("page", "target"), pages.links())
def test_every_link_leads_somewhere(page, target):
    path, _, anchor = target.partition("#")
    found = ((ROOT / page).parent / path).resolve() if path else ROOT / page
    assert found.exists()
    if anchor:
        assert anchor in pages.headings(found)


def test_pictures_are_few_and_small():
    pictures = list((ROOT / "docs" / "pictures").iterdir())
    assert 0 < len(pictures) <= 20
    assert max(picture.stat().st_size for picture in pictures) <= 128 * 1024


def test_every_alarm_is_explained():
    service = (ROOT / "deploy" / "service.yaml").read_text()
    alarms = set(re.findall(r"^  (\w+)Alarm:$", service, re.MULTILINE))
    explained = (ROOT / "docs" / "operating.md").read_text()
    assert {alarm for alarm in alarms if f"`{alarm}`" not in explained} == set()
