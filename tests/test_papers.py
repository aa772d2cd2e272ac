"""The scripts that redo a paper's table, on tiny corpora in the real formats."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.readers.test_rcv1 import HIERARCHY
from tests.readers.test_rcv1 import written as rcv1_with
from tests.readers.test_reuters21578 import folder_with as reuters_with
from tests.readers.test_reuters21578 import story

PAPERS = Path(__file__).parents[1] / "examples" / "papers"
TOPICS = ("acq", "corn", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade", "wheat")


@pytest.fixture
def script(monkeypatch):
    """Import one of them by name."""
    monkeypatch.syspath_prepend(PAPERS)
    monkeypatch.delenv("PREFGRAPH_DATA", raising=False)

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


@pytest.mark.parametrize("name", [path.stem for path in sorted(PAPERS.glob("[a-z]*.py"))])
def test_without_data_it_says_so_in_one_line_and_ends_well(script, name, capsys):
    with pytest.raises(SystemExit) as ended:
        script(name).main([])
    assert ended.value.code == 0
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize("name", [path.stem for path in sorted(PAPERS.glob("[a-z]*.py"))])
def test_data_that_is_not_there_is_named_and_ends_badly(script, name, tmp_path):
    with pytest.raises(SystemExit, match="published") as ended:
        script(name).main(["--data", str(tmp_path / "nowhere")])
    assert "nowhere" in str(ended.value.code)


def test_fig_4_has_a_row_for_each_decomposition(script, tmp_path, capsys):
    """Word k + 1 stands for the k-th topic, so that two of three documents are enough to learn from."""
    topics = (("C11 CCAT", 1), ("C12 C121 CCAT", 2), ("GCAT GSPO", 3))
    lines = [f"1A\t{row}\t{topics[row % 3][0]}\t{topics[row % 3][1]} {10 + row}\n" for row in range(18)]
    rcv1_with(tmp_path, hierarchy=HIERARCHY, subset="".join(lines))
    script("loglinear_fig4").main(["--data", str(tmp_path), "--folds", "3", "--regularization", "0.1"])
    shown = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in shown if line.split()[0] in ("0-1", "dis", "Dom", "dom")]
    assert [row[0] for row in rows] == ["0-1", "dis", "Dom", "dom"]
    assert np.allclose([[float(value) for value in row[1:5]] for row in rows], 0.0)
    assert "by 0.000, 0.000, 0.000, 0.000" in shown[-1]


def test_reuters_has_a_row_for_each_model_and_compares_them(script, tmp_path, capsys):
    stories = [
        story(n, [topic], lewis="TRAIN" if n < 30 else "TEST", text=f"<TEXT><TITLE>{topic} news</TITLE></TEXT>")
        for n, topic in enumerate(TOPICS * 4)
    ]
    reuters_with(tmp_path, "".join(stories))
    module = script("loglinear_reuters")
    module.main(["--data", str(tmp_path), "--repeats", "1"])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("30 training and 10 test documents")
    assert len(shown) == 3 + len(module.models())
    assert all(line.split()[-5:-1] == ["100.00", "0.00", "0.00", "0.00"] for line in shown[2:-1])
    assert "against LinearSVC: AvgP +0.00, IErr +0.00" in shown[-1]
