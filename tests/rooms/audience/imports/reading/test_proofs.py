"""A confirmation proves something if both times are there, and if it is not one of many of one second and place."""

from chalicelib.audience.imports.reading import proofs

HEAD = "Email Address,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LEID,EUID\n"


def weak(rows):
    counter = proofs.ProofCounter()
    for row in rows:
        counter.add(row)
    return [counter.is_weak(row) for row in rows]


def row(number, optin="2023-01-05 10:00:00", confirm="2023-01-05 10:05:00", ip="198.51.100.7"):
    return f"r{number}@example.org,{optin},{ip},{confirm},{ip},1,a\n"


def test_both_times_are_needed(opened):
    content = (
        HEAD
        + row(1)
        + row(2, optin="")
        + row(3, confirm="")
        + row(4, optin="0000-00-00")
        + row(5, optin="2999-01-01")
    )
    assert weak(opened.rows(content)) == [False, True, True, True, True]


def test_a_second_and_an_ip_shared_by_many_prove_nothing(opened):
    shared = "".join(row(number) for number in range(proofs.MANY))
    assert weak(opened.rows(HEAD + shared)) == [True] * proofs.MANY
    fewer = "".join(row(number) for number in range(proofs.MANY - 1))
    assert weak(opened.rows(HEAD + fewer)) == [False] * (proofs.MANY - 1)


def test_the_same_second_elsewhere_is_another_click(opened):
    content = HEAD + "".join(row(number, ip=f"198.51.100.{number}") for number in range(20))
    assert not any(weak(opened.rows(content)))


def test_many_may_confirm_on_one_day(opened):
    content = HEAD + "".join(row(number, confirm="2023-01-05", ip="") for number in range(20))
    assert not any(weak(opened.rows(content)))


def test_a_shared_second_without_an_ip_proves_nothing(opened):
    content = HEAD + "".join(row(number, ip="") for number in range(20))
    assert all(weak(opened.rows(content)))


def test_many_different_pairs_are_not_taken_for_shared_ones(opened):
    ips = (f"10.0.{number % 256}.{number // 256}" for number in range(20_000))
    content = HEAD + "".join(row(number, ip=ip) for number, ip in enumerate(ips))
    assert not any(weak(opened.rows(content)))


def test_a_sign_up_and_a_confirmation_are_proof_under_any_names(opened):
    content = "email,created_at,confirmed_at\nann@example.org,2023-01-05 10:00:00,2023-01-05 10:01:00\n"
    assert weak(opened.rows(content)) == [False]


def test_an_ip_that_is_none_is_not_kept(opened):
    (read,) = opened.rows(HEAD + row(1, ip="ann@example.org"))
    assert read.ips == {}
