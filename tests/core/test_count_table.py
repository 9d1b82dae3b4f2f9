"""Tables of counts hold each classifier's and group's counts, and add up."""

import numpy as np
import pytest

import bayescal as bc

RNG = np.random.default_rng(0)
N = 400
SCORE, OTHER = RNG.random((2, N)).round(3)
LABEL = np.where(RNG.random(N) < 0.1, np.nan, RNG.random(N) < SCORE)
GROUP = RNG.choice(["x", "y", "z"], N)


def scores(rows=slice(None), group=GROUP, **options):
    group = None if group is None else group[rows]
    both = {"a": SCORE[rows], "b": OTHER[rows]}
    return bc.Scores.stack(both, y_true=LABEL[rows], group=group, **options)


def same(one, other):
    assert (set(one), one.groups) == (set(other), other.groups)
    for name in one:
        own, others = ([table[name]] for table in (one, other))
        if one.groups:
            own, others = (list(table.groups_of(name).values()) for table in (one, other))
        for first, second in zip(own, others, strict=True):
            np.testing.assert_array_equal(first.cell, second.cell)
            np.testing.assert_array_equal(first.sums, second.sums)


@pytest.mark.parametrize("group", [GROUP, None], ids=["groups", "whole"])
def test_parts_in_any_order_are_the_whole(group):
    whole = bc.Counts.from_scores(scores(group=group))
    places = RNG.permutation(N).reshape(4, -1)
    parts = [bc.Counts.from_scores(scores(place, group)) for place in places]
    same(sum(parts), whole)
    same((parts[3] + parts[1]) + (parts[0] + parts[2]), whole)


def test_a_table_holds_what_arrays_give():
    table = bc.Counts.from_scores(scores())
    for group, part in table.by_group().items():
        rows = group == GROUP
        own = {"a": SCORE[rows], "b": OTHER[rows]}
        arrays = {name: bc.Counts.from_arrays(LABEL[rows], score) for name, score in own.items()}
        same(part, bc.CountTable(arrays))
    assert table["b"].n_obs == table.n_obs == N
    assert len(table) == 2
    assert repr(table) == "<CountTable: classifiers 'a', 'b'; groups 'x', 'y', 'z'; n_obs 400>"


def test_a_table_without_its_groups_is_another_one():
    table = bc.Counts.from_scores(scores())
    assert {table: 1}[table] == 1
    assert table != bc.CountTable(dict(table))


def test_words_that_spell_the_labels_are_the_same_labels():
    words = bc.Counts.from_arrays(["0", "1"], [0.1, 0.9], pos_label="1")
    assert list(bc.CountTable({"a": COUNTS, "b": words})) == ["a", "b"]


def test_weights_are_counted():
    weight = RNG.random(N) + 0.5
    table = bc.Counts.from_scores(scores(group=None, sample_weight=weight))
    expected = bc.Counts.from_arrays(LABEL, SCORE, sample_weight=weight)
    np.testing.assert_allclose(table["a"].weights, expected.weights, rtol=1e-12)


COUNTS = bc.Counts.from_arrays([0, 1], [0.1, 0.9])
HEAVY = bc.Counts.from_arrays([0, 1], [0.1, 0.9], sample_weight=[1, 2])
TWOS = bc.Counts.from_arrays([0, 2], [0.1, 0.9], pos_label=2)
PLAIN, PAIRED = (bc.Counts.from_scores(scores(group=None), pairs=pairs) for pairs in (False, True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bc.CountTable({}), "parts must hold counts; got none"),
        (lambda: bc.CountTable(COUNTS), "parts must be Mapping; got Counts"),
        (lambda: bc.CountTable({"a": [1, 2]}), r"parts\['a'\] must be Counts; got list"),
        (lambda: bc.CountTable({1: COUNTS}), "a classifier must be str"),
        (lambda: bc.CountTable({" ": COUNTS}), "a classifier must have a name; got ' '"),
        (lambda: bc.CountTable({"a": {"x\0": COUNTS}}), "the name of a group must be text"),
        (lambda: bc.CountTable({"a": {1: COUNTS}}), r"a group of parts\['a'\] must be str"),
        (lambda: bc.CountTable({"a": {"x": COUNTS}, "b": COUNTS}), "all have groups, or none"),
        (lambda: bc.CountTable({"a": {}}), "parts must hold counts; got none"),
        (lambda: bc.CountTable({"a": COUNTS, "b": HEAVY}), "got 1 and 1, without and with weights"),
        (lambda: bc.CountTable({"a": COUNTS, "b": TWOS}), "table must have the same pos_label"),
        (
            lambda: bc.CountTable({"a": COUNTS, "b": bc.Counts.from_arrays([1, 3], [0.1, 0.9])}),
            "the table of counts must hold two labels",
        ),
        (lambda: bc.CountTable({"a": COUNTS}, [1]), "pairs must be SharedCounts; got list"),
        (lambda: bc.CountTable({"a": COUNTS}, PAIRED.pairs), "must be of the classifiers 'a'"),
        (lambda: PLAIN + COUNTS, "must be CountTable; got Counts"),
        (lambda: PLAIN + PAIRED, "must both have pairs, or none"),
        (lambda: PLAIN.by_group(), r"by_group\(\) needs groups"),
        (lambda: PLAIN.groups_of("a"), r"groups_of\(\) needs groups"),
        (lambda: PLAIN.groups_of("c"), "no classifier 'c'"),
        (lambda: bc.Counts.from_scores(COUNTS), "scores must be Scores; got Counts"),
        (lambda: bc.Counts.from_scores(scores(), pairs=1), "pairs must be True or False"),
        (lambda: bc.Counts.from_scores(scores().select("a"), pairs=True), "2 to 8 scores; got 1"),
        (
            lambda: bc.Counts.from_scores(scores(sample_weight=np.ones(N)), pairs=True),
            "pairs cannot use sample weights",
        ),
        (
            lambda: bc.Counts.from_scores(bc.Scores(y_true=[0, 1, 2], y_prob=np.eye(3))),
            "counts must be of two classes; got 3",
        ),
    ],
)
def test_what_makes_no_table_is_refused(make, message):
    with pytest.raises(bc.InputError, match=message):
        make()
