"""The figures of the weight, and what exceeds a ceiling."""

import grimp
import pytest

from tests.quality import weight


def test_function_lengths_count_from_def_to_the_last_line() -> None:
    text = (
        "@cache\ndef a():\n    return 1\n\nclass B:\n    async def c(self):\n        def d(): pass\n        return d\n"
    )

    functions = weight.list_functions([text])
    assert sorted(map(weight.count_function_lines, functions)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("lines", "line", "is_dense"),
    [(9, "a(b, c, d, e, f, g, h, i)", False), (10, "a(b, c, d, e, f, g, h, i)", True), (10, "a(b)", False)],
)
def test_long_function_with_many_nodes_a_line_is_dense(lines: int, line: str, *, is_dense: bool) -> None:
    body = "".join(f"    {line}\n" for _ in range(lines - 1))
    (function,) = weight.list_functions([f'def a():\n    """Do."""\n{body}'])

    assert weight.is_dense(function) is is_dense


def test_import_cycle_is_found() -> None:
    graph = grimp.ImportGraph()
    for module in ("a", "a.b", "a.c", "a.d"):
        graph.add_module(module)
    graph.add_import(importer="a.b", imported="a.c")
    graph.add_import(importer="a.c", imported="a.d")

    assert weight.find_import_cycle(graph) == []
    graph.add_import(importer="a.d", imported="a.b")
    assert set(weight.find_import_cycle(graph)) == {"a.b", "a.c", "a.d"}


def test_parts_of_blog_and_the_imports_between_them_are_counted() -> None:
    graph = grimp.ImportGraph()
    for module in ("blog", "blog.models", "blog.models.posts", "blog.views", "blog.urls"):
        graph.add_module(module)
    graph.add_import(importer="blog.views", imported="blog.models")
    graph.add_import(importer="blog.views", imported="blog.models.posts")
    graph.add_import(importer="blog.urls", imported="blog.views")
    graph.add_import(importer="blog.models", imported="blog.models.posts")

    assert weight.count_parts(graph) == (3, 2)


def test_figure_above_its_ceiling_and_a_figure_without_one_are_problems() -> None:
    problems = list(weight.find_problems({"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 2, "d": 1}))

    assert [problem.split(".")[0] for problem in problems if "above" in problem] == ["a is 3, above its ceiling 2"]
    assert len(problems) == 3
