"""Report words and names that this project has replaced: `python -m tests.contract.check_language [--count] [PATH…]`.

Prints `file:line: word -> suggestion` for each hit and exits with 1 if there is one. A word inside an identifier counts
too (`is_told`), a part of a word does not (`understands`). A line that contains `language: ignore` is skipped.
"""

import ast
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".py", ".md", ".graphql", ".yaml", ".html"}
EXCLUDED = (
    "benchmarks/peers/",  # written as their frameworks' documentation does
    "blog/demo/",  # content
    "docs/specification.md",  # given
    "schema/released/",  # a copy of the SDL at the last release
    "tests/contract/check_language.py",
    "tests/contract/test_check_language.py",
)
IGNORE = "language: ignore"

# A pattern, and what to write instead. Letters next to a match are part of a longer word, which is not meant.
WORDS = {
    r"stands?(?!-)": "is, is in, occurs, represents",
    r"stood(?!-)": "was, was in, occurred, represented",
    r"told": "gets (a status), is informed; state the fact",
    r"tells": "states, shows, returns",
    r"whoever|whomever|whosoever|whosever": "a caller that, a client that, a user who",
    r"troubles?": "error, problem; `except … as error`",
    r"faces?": "transport, interface",
    r"at the door": "at the start of a request",
    r"asked for": "requested",
    r"(is|are|was|were|been|be) asked": "is requested, is read, is called",
    r"what (is|was) asked": "the request",
    r"who(ever)? asks": "the caller",
    r"askers?": "the caller, the actor",
    r"(is|are|was|were) to be": "must be, will be; or use the verb",
    r"what is to": "name the thing with a noun",
    r"near at hand": "cached, nearby",
    r"made[- ]up(?! of)": "generated, invented",
    r"ever new": "always different, changing",
    r"anew": "again",
    r"as ever": "as usual",
    r"good no more|no longer good|(is|are|was) not good|not good yet": "invalid, expired, revoked",
    r"a good token|good token": "a valid token",
    r"heed(s|ed|ing)?": "respect, use, handle",
    r"outlived": "expired, prunable",
    r"in vain": "without effect",
    r"let(s|ting)? go of": "release, delete",
    r"held to": "checked against, limited by",
    r"hold(s|ing)? (the|a|an|it|them|this|each) [\w ]{0,24}?to (the|its|their|what)": "check … against",
    r"(see|sees|seen|saw) to": "handle, ensure",
    r"(is|are|was) said": "is stated, is declared",
    r"(?<=\"\"\")(say|tell) (whether|how|what|which|why|if)": "Return whether …, Return the …",
    r"(an|the|each|every|its|this|no|one|whole|first|last|same|another) answer": "response",
    r"(the|its|all|these|those|their) answers": "responses",
    r"what is answered": "the response",
    r"what comes (out )?of": "the result of",
    r"for (he|she|they|it|whom) who": "for a caller that",
    r"lets do": "permits",
    r"spread out": "expanded",
    r"no matter of": "not a question of",
    r"thereof|therein|thereby|withal|hitherto|whereupon|hence it": "use a plain connective",
    r"of whichever": "of any",
    r"by whichever": "by any",
    r"how many of a kind": "the number of …",
    r"ways? of (its|their|our|his) own": "own",
    r"something in it|nothing in it": "a value, an empty …",
    r"once for each of them": "once each",
    r"to the letter": "exactly",
    r"there is none with": "does not exist",
    r"(who|which|that) is meant": "the intended …",
    r"is meant": "is intended, is selected",
    r"(a|the) face of": "the interface of",
    r"(an|the|each|every|no|one|another|other|of|its|these|all) acts?": "action",
    r"(?<![_-])acts?(?= =|[\]:=]|\.\w)": "action",
    r"everybodys": "of_everybody, all",
}

# Names of functions, methods and classes that have been renamed.
NAMES = {
    "Act": "Action", "AllRules": "CombinedRule", "Answer": "Response", "Around": "Nesting",
    "Asked": "ResourceRequest, ConnectionArguments", "COST_OF_ONE_MORE": "COST_PER_CHARGE", "Choice": "PostCriteria",
    "Connected": "ConnectionQuery", "ENDING": "TERMINATION_SIGNALS", "ENDLESS": "COUNT_CAP",
    "Expectation": "ExpectedVersionBody", "ForPages": "BrowserOnlyMiddleware", "Found": "Match",
    "FrontDoor": "FastPath", "GivenKeys": "KeySet", "InThisProcess": "InProcessCounter",
    "Inputs": "ExecutionInputs", "Itself": "SameRowAsType", "KeptAnswer": "IdempotencyRecord",
    "KeptKeys": "KeyDirectory",
    "Known": "CachedDocument", "LIFE": "RETENTION", "LOOK_EVERY": "RELOAD_INTERVAL", "MOVES": "TRANSITIONS",
    "Making": "ConnectionCompiler", "Many": "ToMany", "Measured": "SelectionCost", "Measuring": "CostVisitor",
    "Nothing": "EmptyBody", "One": "ToOne", "PostsOfAuthor": "AuthorPostCollection", "PrescribedType": "RelayType",
    "Publication": "PostPublication", "Reading": "SelectionRequest", "Rendered": "Response",
    "Repeated": "DuplicateKey", "Reply": "Response", "Returning": "InsertedRowSelection", "Routes": "Router",
    "SIGNED": "VERIFIED_TOKENS", "ShapedQuerySet": "ParametrisedRows", "Shared": "RedisCounter",
    "Signed": "VerifiedToken", "Size": "OperationSize", "Spread": "FragmentSpread", "Standing": "LimitStatus",
    "Sum": "CostExpression", "Terms": "LimitSpec", "accept_endings": "restore_default_signals",
    "admitted": "authenticate_request", "again": "replay",
    "asked_page": "parse_page_params", "asked_to_end": "as_break", "asked_window": "parse_connection_args",
    "belongs_to": "set_actor", "belongs_to_another": "build_wrong_owner_exit", "by_shape": "parametrised",
    "charge_for_asking": "charge_request", "charge_with_asking": "charge_operation", "charged": "charge",
    "charges_itself": "handles_rate_limit", "chosen": "require_operation", "clean_post": "validate_post",
    "coerce_as_ever": "coerce_generic", "compiled": "compile_statement", "connect_posts": "posts_connection",
    "described": "build_sdl_field", "endings_heeded": "exit_on_termination_signals", "entered": "count_node",
    "entry": "build_error_entry", "exceeded": "build_limit_error", "executed": "execute", "failure": "error_response",
    "final_answer": "execute", "fitting": "filter", "forget_tokens": "drop_token_links",
    "has_numbered_characters": "has_unicode_escapes",
    "hand_on": "reassign", "headers_of_django": "middleware_headers", "identified": "authenticate_request",
    "in_full_order": "with_total_order", "is_known": "etag_matches", "is_of_one_of": "is_our_host",
    "is_one_of": "is_host_allowed", "is_plain": "is_eligible_for_fast_path", "joined": "join_…",
    "keep_last_use": "record_last_use",
    "known_as": "source_path", "known_document": "load_document", "logged_failure": "response_for_exception",
    "list_acts": "list_actions",
    "logged_kind": "classify_and_log", "look": "reload", "look_if_due": "reload_if_stale", "looks": "visitors",
    "made": "object_sql", "meant": "find_operation", "measured": "measure", "meanwhile": "fallback",
    "moment": "numeric_date, parse_date", "move_post": "transition_post", "name_some": "name the objects",
    "nameless": "default_key",
    "network_of": "to_rate_limit_address", "numbered": "build_numbered_statement", "once": "replay_or_execute",
    "one_row_each": "without_distinct", "open_the_way": "grant_server_account_access", "operation_of": "get_operation",
    "outlived": "prunable", "place_of": "source_location", "posts_that_fit": "filtered_posts",
    "published": "build_document_view, public_keys", "reaching": "oldest_of_newest",
    "reason_of": "get_decode_error_reason", "refusal": "django_error_response", "refusal_of": "find_cause",
    "refusing_all_else": "convert_to_token_error", "require_fitting_conditions": "reject_misplaced_preconditions",
    "require_move": "validate_transition", "respond": "handle", "ring": "load_key_ring", "say": "info",
    "shaped": "parametrise", "spend": "consume_all", "spread_out": "expand_fragments",
    "stand_in": "build_parametrised_actor", "standing": "get_actor_cache_key, status",
    "stands_once": "has_no_duplicate_keys",
    "storable_tag": "validate_tag", "structure_of": "variable_shape", "tagged": "build_tagged_response",
    "take_room": "count_output",
    "template": "with_parameters", "throttled": "limit_attempts", "unordered_posts": "filtered_posts",
    "wish": "result", "without_repetition": "loads_without_duplicates",
}  # fmt: skip

# Names of constants that said neither what they limit nor what they belong to. Several modules had the same name.
CONSTANTS = {
    "BATCH": "ROWS_PER_STATEMENT, POSTS_PER_TRANSACTION",
    "INTERVAL": "a name of contentapi/conf/timeouts.py",
    "LOCK": "LOCK_FILE",
    "METHODS": "ALLOWED_METHODS, RESOURCE_METHODS",
    "TIME_LIMIT": "a name of contentapi/conf/timeouts.py",
}

# Where modules are now.
MODULES = {
    "contentapi/addresses.py": "contentapi/http/client_address.py",
    "contentapi/admission.py": "contentapi/auth/authentication.py",
    "contentapi/bodies.py": "contentapi/http/body.py",
    "contentapi/current.py": "contentapi/conf/__init__.py",
    "contentapi/editors.py": "contentapi/http/middleware.py",
    "contentapi/front_door.py": "contentapi/server/fast_path.py",
    "contentapi/kept.py": "contentapi/conf/secret_files.py",
    "contentapi/keys.py": "contentapi/auth/signing_keys.py",
    "contentapi/keys_view.py": "contentapi/auth/signing_keys.py",
    "contentapi/origins.py": "contentapi/http/hosts.py",
    "contentapi/published.py": "contentapi/http/documents.py",
    "contentapi/requests.py": "contentapi/monitoring/records.py",
    "contentapi/routes.py": "contentapi/server/router.py",
    "contentapi/versions.py": "contentapi/core/entity_tags.py",
    "contentapi/graphql/changes.py": "contentapi/graphql/schema_diff.py",
    "contentapi/graphql/inputs.py": "contentapi/graphql/execution/operations.py",
    "contentapi/graphql/projections.py": "contentapi/graphql/bindings.py",
    "contentapi/graphql/view.py": "contentapi/graphql/endpoint.py",
    "contentapi/projection/cursors.py": "contentapi/projection/libpq.py",
    "contentapi/projection/orders.py": "contentapi/projection/ordering.py",
    "contentapi/projection/queries.py": "contentapi/projection/prepared_query.py",
    "contentapi/projection/shapes.py": "contentapi/projection/querysets.py",
    "contentapi/rest/answers.py": "contentapi/http/response.py",
    "contentapi/rest/conditions.py": "contentapi/http/conditional.py",
    "contentapi/rest/failures.py": "contentapi/http/error_response.py",
    "contentapi/rest/markers.py": "contentapi/http/negotiation.py",
    "tests/contract/faces.py": "tests/contract/transports.py",
    "tests/contract/service_acts.py": "tests/contract/service_actions.py",
}

PATTERNS = [
    (re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])", re.IGNORECASE), suggestion)
    for pattern, suggestion in WORDS.items()
]
# For a text in lower case: to ignore the case here takes four times as long.
ANY = re.compile(rf"(?<![a-z])(?:{'|'.join(WORDS)})(?![a-z])")
MAY_HAVE_NAME = re.compile(rf"\b(?:(?:def|class) +(?:{'|'.join(NAMES)})|{'|'.join(CONSTANTS)})\b")


class Hit(NamedTuple):
    path: str
    line: int
    word: str
    suggestion: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word} -> {self.suggestion}"


def check_text(path: str, text: str) -> Iterator[Hit]:
    """Yield the replaced words of a text."""
    if not ANY.search(text.lower()):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if IGNORE in line:
            continue
        seen: set[int] = set()
        for pattern, suggestion in PATTERNS:
            for found in pattern.finditer(line):
                if found.start() not in seen:
                    seen.add(found.start())
                    yield Hit(path, number, found[0], suggestion)


def check_names(path: str, text: str) -> Iterator[Hit]:
    """Yield the functions, classes and constants of a module that have a replaced name."""
    if not MAY_HAVE_NAME.search(text):
        return
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and node.name in NAMES
            and IGNORE not in lines[node.lineno - 1]
        ):
            kind = "class" if isinstance(node, ast.ClassDef) else "def"
            yield Hit(path, node.lineno, f"{kind} {node.name}", NAMES[node.name])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in CONSTANTS:
            yield Hit(path, node.lineno, node.id, CONSTANTS[node.id])


def check_file(path: str) -> list[Hit]:
    """Return the hits of a file of the repository, in the order of its lines."""
    text = (ROOT / path).read_text(encoding="utf-8")
    hits = [*check_text(path, text)]
    if path in MODULES:
        hits.append(Hit(path, 1, "module", MODULES[path]))
    if path.endswith(".py") and not path.startswith("tests/"):
        hits += check_names(path, text)
    return sorted(hits, key=lambda hit: hit.line)


def tracked_files() -> list[str]:
    """Return the files to check: those that git tracks and that still exist."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        path
        for path in listed.splitlines()
        if Path(path).suffix in SUFFIXES
        and not path.startswith(EXCLUDED)
        and "/migrations/" not in path
        and (ROOT / path).exists()
    ]


def package_of(path: str) -> str:
    """Return the package under which a hit is counted: `contentapi/http`, `blog`, `README.md`."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("contentapi", "tests") and len(parts) > 2 else parts[0]


def main() -> int:
    parser = ArgumentParser(description="Report words and names that this project has replaced.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only files whose path begins so; default: all")
    parser.add_argument("--count", action="store_true", help="print the number of hits of each package only")
    options = parser.parse_args()
    wanted = tuple(options.paths) or ("",)
    hits = [hit for path in tracked_files() if path.startswith(wanted) for hit in check_file(path)]
    if options.count:
        counts = Counter(package_of(hit.path) for hit in hits)
        lines = [f"{count:5} {package}" for package, count in sorted(counts.items())]
    else:
        lines = [str(hit) for hit in hits]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    if hits:
        sys.stderr.write(f"{len(hits)} words or names to replace. See the language rules in CONTRIBUTING.md.\n")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
