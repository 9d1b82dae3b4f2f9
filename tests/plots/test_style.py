from __future__ import annotations

from bayescal.plots.style import shorten


def test_shorten_keeps_both_ends_and_one_line() -> None:
    name = "resnet50 augmented\nlabel-smoothing seed 17"
    assert shorten(name, 40) == "resnet50 augmented label-smoothing seed 17"[:19] + (
        "..." + "resnet50 augmented label-smoothing seed 17"[-18:]
    )
    assert len(shorten(name, 21)) == 21
    assert shorten("vit") == "vit"
