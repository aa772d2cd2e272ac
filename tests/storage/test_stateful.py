"""Random writes, appends, deletions, scores and reopenings against a plain dict, which shares no code with a store."""

import neo4j
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import prefgraph as pg
from storage import DatasetExists, DatasetNotFound, open_store
from tests.strategies import datasets

NAMES = st.sampled_from(["a", "b", "it's `$`"])
LABELS = st.sampled_from(["a", "b", 1, "1", "😀"])
ANY = datasets(LABELS, max_instances=3).filter(lambda d: d.candidates is None)


class StoreMachine(RuleBasedStateMachine):
    """`clear` makes room for a new store, `opened` opens it, with what the last one left."""

    def clear(self):
        raise NotImplementedError

    def opened(self):
        raise NotImplementedError

    @initialize()
    def start(self):
        self.clear()
        self.store = self.opened()
        self.known = {}
        self.models = {}

    @rule(name=NAMES, data=ANY, mode=st.sampled_from(["create", "replace"]))
    def write(self, name, data, mode):
        if mode == "create" and name in self.known:
            with pytest.raises(DatasetExists):
                self.store.write(name, data)
        else:
            self.store.write(name, data, mode=mode)
            self.known[name] = data
            self.models[name] = {}

    @rule(name=NAMES, draw=st.data())
    def append(self, name, draw):
        if name not in self.known:
            with pytest.raises(DatasetNotFound):
                self.store.write(name, draw.draw(ANY), mode="append")
            return
        more = draw.draw(datasets(LABELS, max_instances=3, like=self.known[name]).filter(len))
        for _ in range(draw.draw(st.integers(1, 2))):
            self.store.write(name, more, mode="append")
        self.known[name] = pg.PreferenceDataset.concatenate([self.known[name], more])

    @rule(name=NAMES)
    def delete(self, name):
        if name in self.known:
            self.store.delete(name)
            del self.known[name], self.models[name]
        else:
            with pytest.raises(DatasetNotFound):
                self.store.delete(name)

    @precondition(lambda self: self.known)
    @rule(draw=st.data(), model=st.sampled_from(["m", "n"]))
    def write_scores(self, draw, model):
        name = draw.draw(st.sampled_from(sorted(self.known)))
        data = self.known[name]
        shape = len(data), len(data.labels)
        scores = (np.arange(float(np.prod(shape))) % draw.draw(st.integers(1, 4))).reshape(shape)
        self.store.write_scores(name, model, data.keys, scores)
        q = data.preferences.parts("identity")
        broken = sum(scores[i, u] <= scores[i, v] for i, u, v in zip(q.instance, q.init, q.term, strict=True))
        self.models[name][model] = int(broken)

    @precondition(lambda self: self.known)
    @rule(draw=st.data())
    def read(self, draw):
        name = draw.draw(st.sampled_from(sorted(self.known)))
        data = self.known[name]
        keys = draw.draw(st.lists(st.sampled_from(data.keys), unique=True)) if len(data) else []
        assert self.store.read(name, keys=keys) == data.select(keys=keys)
        pieces = list(self.store.stream(name, batch_size=2))
        assert [key for piece in pieces for key in piece.keys] == list(data.keys)
        for model, broken in self.models[name].items():
            assert self.store.violations(name, model).num_rows == broken

    @rule()
    def reopen(self):
        self.store.close()
        self.store = self.opened()

    @invariant()
    def the_store_says_what_the_dict_says(self):
        if not hasattr(self, "known"):
            return
        assert self.store.datasets() == sorted(self.known)
        for name, data in self.known.items():
            assert self.store.read(name) == data
            assert self.store.stats(name)["models"] == sorted(self.models[name])

    def teardown(self):
        for name in getattr(self, "known", {}):
            assert self.store.verify(name).num_rows == 0
            self.store.delete(name)
        if hasattr(self, "store"):
            counts = self.store.query("MATCH (n) RETURN count(*) AS n")["n"].to_pylist()
            self.store.close()
            assert counts == [1], "only the store itself is left"


def run(machine, examples, steps):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
            suppress_health_check=list(HealthCheck),
            deadline=None,
        ),
    )


def test_an_embedded_store_behaves_as_a_dict(tmp_path):
    class Embedded(StoreMachine):
        numbers = iter(range(10**6))

        def clear(self):
            self.path = tmp_path / f"{next(self.numbers)}.prefgraph"

        def opened(self):
            return open_store(self.path)

    run(Embedded, 5, 8)


def test_a_neo4j_store_behaves_as_a_dict(empty_neo4j):
    address = empty_neo4j

    class Neo4j(StoreMachine):
        def clear(self):
            with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
                driver.execute_query("MATCH (n) DETACH DELETE n")

        def opened(self):
            return open_store(address.uri, auth=(address.user, address.password))

    run(Neo4j, 3, 8)
