from bench.table import Row, at_most, growth, markdown, printed


def test_a_figure_within_its_limit_is_met_and_one_beyond_is_missed():
    assert at_most("x", 1.2, 1.5).verdict == "met"
    assert at_most("x", 1.6, 1.5, "×").verdict == "MISSED"
    assert Row("x", "", "3 s").verdict == ""


def test_the_same_rows_for_a_terminal_and_for_a_page():
    rows = [at_most("a long name", 1.234, 1.5, detail="in all"), Row("b", "", "3 s")]
    assert printed(rows).splitlines()[1] == "a long name  ≤ 1.5   1.23 (in all)  met"
    assert markdown(rows).splitlines()[-1] == "| b |  | 3 s |  |"


def test_growth_is_that_of_the_largest_over_the_smallest_size():
    row = growth("x", {1_000: 2.0, 10_000: 2.0, 100_000: 3.0})
    assert (row.what, row.measured, row.verdict) == (
        "x, at 1,000, 10,000, 100,000: growth",
        "1.5 (2, 2, 3)",
        "MISSED",
    )
    assert growth("x", {1_000: 3.0, 10_000: 2.0}).verdict == "met"
