import numpy as np

from bayescal.quantities.temperature.errors import rows_to_add, smoothed_rows


def made(n, seed=0):
    """Rows around one mean for each class."""
    rng = np.random.default_rng(seed)
    of = rng.integers(0, 3, n)
    return 6 * np.eye(3)[of] + rng.normal(0, [1.0, 0.5, 0.2], (n, 3))


def test_rows_are_filled_up_to_200_a_class():
    assert rows_to_add(100, 10) == 1900
    assert rows_to_add(2500, 10) == 0
    assert rows_to_add(100, 1000) == 19_900


def test_means_and_covariances_of_classes_stay():
    rows = made(300)
    found = smoothed_rows(rows, 60_000, np.random.default_rng(1))
    for k in range(3):
        mine, drawn = (x[x.argmax(axis=1) == k] for x in (rows, found))
        # A tenth of a standard deviation: 100 rows a class have standard errors of that size.
        np.testing.assert_allclose(drawn.mean(axis=0), mine.mean(axis=0), atol=0.1)
        np.testing.assert_allclose(drawn.std(axis=0), mine.std(axis=0), rtol=0.2)
    share = np.bincount(found.argmax(axis=1)) / 60_000
    np.testing.assert_allclose(share, np.bincount(rows.argmax(axis=1)) / 300, atol=0.01)


def test_one_row_and_rows_that_are_equal_give_themselves():
    for rows in (np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]] * 5 + [[0.0, 2.0]] * 5)):
        found = smoothed_rows(rows, 50, np.random.default_rng(0))
        assert {tuple(row) for row in found} <= {tuple(row) for row in rows}
