from bench.table import Row, at_most, markdown, printed


def test_a_figure_within_its_limit_is_met_and_one_beyond_is_missed():
    assert at_most("x", 1.2, 1.5).verdict == "met"
    assert at_most("x", 1.6, 1.5, "×").verdict == "MISSED"
    assert Row("x", "", "3 s").verdict == ""


def test_the_same_rows_for_a_terminal_and_for_a_page():
    rows = [at_most("a long name", 1.234, 1.5, detail="in all"), Row("b", "", "3 s")]
    assert printed(rows).splitlines()[1] == "a long name  ≤ 1.5   1.23 (in all)  met"
    assert markdown(rows).splitlines()[-1] == "| b |  | 3 s |  |"
