from pathlib import Path

import pytest

from local import emulator
from local.emulator import Emulator, EmulatorFailed


def test_an_emulator_that_is_not_installed_is_one_line_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(emulator, "_PYTHON", Path("/nowhere/python"))
    with pytest.raises(EmulatorFailed, match="make emulator"):
        Emulator(tmp_path).start()


def test_an_emulator_that_does_not_come_up_is_one_line_that_says_where_to_look(tmp_path, monkeypatch):
    monkeypatch.setattr(emulator, "_PYTHON", Path("/bin/false"))
    with pytest.raises(EmulatorFailed, match=r"emulator\.log"):
        Emulator(tmp_path).start()
