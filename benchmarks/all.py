"""Every figure of docs/benchmarks.md, one program after the other; about 26 hours on two cores.

python benchmarks/all.py --list                    # programs by section, with their hours
python benchmarks/all.py                           # all; begun again, it goes on where it stopped
python benchmarks/all.py --sections speed scale
python benchmarks/all.py --data DIR                # those too that need data of others

What a program prints is kept in results/all/, under the commit it was run at. A program that has
been run at the present commit is not run again.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from _common import print_table
from _results import RESULTS, commit

HERE = Path(__file__).parent
PU_AGAIN = "worst_again.py --data {data} --resamples 40 --of pu_real_coverage_report"
PU_REAL = "pu_real_coverage.py --bank report --data {data} --draws 1000 --resamples"
# By section of docs/benchmarks.md: arguments and hours. {data} is a folder of data
# of others, {scratch} one for 1 GB of simulated rows.
RUNS = {
    "ece": [
        ("interval_coverage.py --replications 60", 1.0),
        ("stress_coverage.py --resamples 60 --draws 1000", 0.5),
        (
            "stress_coverage.py --resamples 60 --draws 1000 --sizes 100"
            " --truths calibrated near better less over wiggle never certain",
            0.1,
        ),
        ("real_coverage.py --bank rates --data {data} --resamples 20 --draws 1000", 0.3),
        ("real_coverage.py --bank report --data {data} --resamples 25 --draws 1000", 0.3),
        ("worst_again.py --of real_coverage_rates --bank rates --data {data}", 0.1),
        ("worst_again.py --of real_coverage_report --data {data}", 0.2),
        ("weighted_coverage.py --replications 60 --truths less over wiggle", 0.4),
    ],
    "pu_ece": [
        ("pu_coverage.py --replications 30", 1.5),
        ("pu_coverage.py --bins 6", 0.5),
        (PU_REAL + " 10", 0.2),
        (PU_REAL + " 10 --spread .05", 0.2),
        (PU_REAL + " 10 --spread .11", 0.2),
        (PU_REAL.replace("report", "rates") + " 20 --classifiers 'tree 75'", 0.1),
        (PU_AGAIN + " --spread .005", 0.1),
        (PU_AGAIN + "_spread_05 --spread .05", 0.1),
        (PU_AGAIN + "_spread_11 --spread .11", 0.1),
        ("pu_acceptance.py --data {data}", 0.5),
        ("pu_figures.py", 0.1),
        ("pu_wide.py", 0.2),
    ],
    "ssme": [
        ("ssme_bank.py --data {data}", 0.2),
        ("ssme_curve.py --data {data}", 0.1),
        ("ssme_paper.py --data {data}", 2.0),
    ],
    "credal": [
        ("credal_coverage.py --replications 40", 1.0),
        ("credal_real_coverage.py --bank report --data {data}", 1.0),
        ("self_learning_paper.py --data {data} --seeds 10", 1.0),
    ],
    "agnostic": [
        ("agnostic_coverage.py", 0.5),
        ("agnostic_coverage.py --adult {data}/adult.csv.gz", 0.5),
        ("agnostic_coverage.py --pairs --replications 400", 0.1),
        ("agnostic_paper.py", 0.1),
    ],
    "temperature": [
        ("temperature_held_out.py --pool 0 --replications 60", 0.3),
        ("temperature_held_out.py --pool 2000 --replications 60", 0.4),
        ("temperature_default.py", 0.2),
        ("temperature_sweeps.py", 0.5),
        ("temperature_paper.py", 0.2),
    ],
    "measures": [
        ("measures_coverage.py simulated --sizes 100 300 1000 5000", 1.0),
        (
            "measures_coverage.py real --bank report --data {data} --resamples 10"
            " --populations adult-10 digit5-11 digit9-12 --sizes 100 300 1000 5000",
            2.0,
        ),
        ("decision_curve.py --data {data} --resamples 30", 0.2),
        ("band_coverage.py", 0.5),
        ("change.py --store {scratch} --data {data}", 0.5),
        ("plan_labels.py --bank report --data {data}", 0.5),
    ],
    "differences": [
        ("difference.py --replications 60", 0.3),
        ("real_difference.py --bank rates --data {data} --resamples 50 --draws 1000", 0.3),
        ("real_difference.py --bank report --data {data} --resamples 50 --draws 1000", 0.3),
        (
            "measure_difference.py --bank report --data {data} --populations adult-10"
            " --draws 2000 --resamples 200",
            0.3,
        ),
        ("groups.py", 0.2),
    ],
    "sbc": [
        ("sbc.py", 0.7),
        ("pu_sbc.py", 1.0),
        ("ssme_sbc.py", 0.5),
        ("credal_sbc.py", 0.5),
        ("agnostic_sbc.py --method nuts", 0.3),
        ("temperature_sbc.py", 0.5),
        ("nuts_exact.py", 0.1),
        ("nuts_members.py", 0.1),
    ],
    "speed": [
        ("speed.py --repeat 3", 0.2),
        ("nuts_speed.py --repeat 5", 0.2),
        ("credal_speed.py", 0.1),
        ("temperature_speed.py", 0.1),
        ("ssme_speed.py {data}", 0.1),
        ("agnostic_speed.py", 0.1),
    ],
    "scale": [
        ("cost.py", 0.2),
        ("counts.py", 0.1),
        ("counts_sql.py {scratch}", 0.1),
        # The documentation's 1e9 rows take 9 GB of disk: many_rows.py DIR --rows 1e9 --repeat 1.
        ("many_rows.py {scratch}", 0.1),
        ("many_rows_posterior.py", 0.1),
        ("credal_rows.py", 0.1),
        ("many_fits.py --fits 150 --method direct", 0.1),
    ],
}


def kept(run: str) -> Path:
    words = re.findall(r"\w+", run.replace(".py", ""))
    return RESULTS / "all" / ("_".join(words) + ".txt")


def first_line(run: str) -> str:
    return f"{commit()}: python benchmarks/{run}"


def done(run: str) -> bool:
    path = kept(run)
    return path.is_file() and path.read_text().partition("\n")[0] == first_line(run)


def start(run: str, data: Path | None, scratch: str) -> bool:
    """Run one program, and keep what it prints if it ends well."""
    program, *arguments = shlex.split(run.format(data=data, scratch=scratch))
    began = perf_counter()
    found = subprocess.run(
        [sys.executable, HERE / program, *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    minutes = (perf_counter() - began) / 60
    print(f"{run}: exit {found.returncode} after {minutes:.1f} minutes", flush=True)
    if found.returncode == 0:
        kept(run).parent.mkdir(parents=True, exist_ok=True)
        kept(run).write_text(f"{first_line(run)}\n\n{found.stdout}")
    return found.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sections", nargs="+", choices=RUNS, default=[*RUNS])
    parser.add_argument("--data", type=Path, help="a folder of data of others")
    parser.add_argument("--list", action="store_true", help="only say what would be run")
    given = parser.parse_args()
    chosen = [(section, *run) for section in given.sections for run in RUNS[section]]
    chosen = [run for run in chosen if given.data or "{data}" not in run[1]]
    if given.list:
        rows = [(*run[:2], run[2], "yes" if done(run[1]) else "") for run in chosen]
        print_table("Programs", ["section", "program", "hours", "run at this commit"], rows)
        return
    wanted = [run for _, run, _ in chosen if not done(run)]
    with TemporaryDirectory() as scratch:
        failed = [run for run in wanted if not start(run, given.data, scratch)]
    if failed:
        sys.exit("Ended with an error: " + "; ".join(failed))


if __name__ == "__main__":
    main()
