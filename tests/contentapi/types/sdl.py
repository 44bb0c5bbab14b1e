"""The type Recipe of a team, and what tests change in it."""

from pathlib import Path

RECIPE = """
"A dish, and how to cook it."
type Recipe implements Node @type(app: "recipes", read: public, write: author, publication: true) {
  id: ID!
  title: String! @text(maxLength: 200)
  servings: Int! @number(minimum: 1, maximum: 100)
  steps: String! @text(maxLength: 20000)
  course: Course!
  tags: [String!]!
  cover: Image
  related: [Post!]!
  author: Author!
  publishedAt: DateTime
  createdAt: DateTime!
  updatedAt: DateTime!
  version: String!
}
enum Course { starter main dessert }
"""
RELATED = {
    "Author": {"model": "blog.Author", "read": "public"},
    "Image": {"model": "blog.Image", "read": "public"},
    "Post": {"model": "blog.Post", "read": "staff"},
}


def write_schema(folder: Path, recipes: str = RECIPE, **others: str) -> Path:
    """Write the files of a folder `schema`, and return it."""
    schema = folder / "schema"
    schema.mkdir(exist_ok=True)
    for name, text in {"recipes": recipes, **others}.items():
        (schema / f"{name}.graphql").write_text(text)
    return schema
