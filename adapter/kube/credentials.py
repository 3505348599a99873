"""Who we are to the API server, and where it is: from a kubeconfig, or from the pod's service account.

kubernetes.aio reads both; this mends where it is careless: tokens lose their line break, a context without a
user works, a plugin that fails is an error instead of an anonymous request, and no client key outlives the
moment in which it is loaded. Nothing of what is read here may reach a log.
"""

import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml
from kubernetes.aio.client import Configuration
from kubernetes.aio.config.config_exception import ConfigException
from kubernetes.aio.config.incluster_config import InClusterConfigLoader

from adapter.kube import kubeconfig
from adapter.kube.files import Files

SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where kubelet puts a pod's token and the cluster's CA."""

BEARER: Final = "BearerToken"
"""kubernetes.aio's name for the value of the Authorization header."""


class CredentialsUnusable(Exception):
    """This says why there are none, without any of their content."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where credentials come from."""

    kubeconfig: str = ""
    """One path, or several with a colon between them as in KUBECONFIG; empty: the pod's service account."""

    disable_strict_x509: bool = False
    """Python 3.13 refuses cluster CAs without an Authority Key Identifier, as old installers made them."""

    service_account: str = SERVICE_ACCOUNT
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """In a pod it names the API server's address, and an exec plugin inherits it; nothing else is read from it."""

    plugin_seconds: float = 30.0
    """A plugin that waits for somebody to log in would else wait for ever."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Credentials that can be used now."""

    configuration: Configuration
    files: Files
    renewable: bool = False
    """A plugin or provider made them, and may make newer ones."""

    expires_at: float | None = None
    """Seconds since 1970."""


@asynccontextmanager
async def opened(source: Source) -> AsyncIterator[Loaded]:
    """The credentials of `source`; build the TLS context inside, for keys are on disk only as long.

    Raises CredentialsUnusable.
    """
    with tempfile.TemporaryDirectory(prefix="adapter-") as directory:
        try:
            loaded = await _loaded(source, directory)
        except yaml.YAMLError as error:  # its text quotes the file
            mark = getattr(error, "problem_mark", None)
            place = f"line {mark.line + 1}: " if mark else ""
            raise CredentialsUnusable(f"kubeconfig: {place}no YAML") from None
        except (TypeError, KeyError, AttributeError) as error:
            raise CredentialsUnusable(
                f"kubeconfig: not in its usual form ({type(error).__name__})"
            ) from error
        except (ConfigException, OSError, ValueError) as error:
            raise CredentialsUnusable(f"{type(error).__name__}: {error}") from error
        yield loaded


async def _loaded(source: Source, directory: str) -> Loaded:
    if not source.kubeconfig:
        return _in_cluster(source)
    paths = kubeconfig.paths(source.kubeconfig)
    files = Files(paths)
    chosen = kubeconfig.choose(paths)
    files.add(chosen.files())
    renewable = chosen.renewable
    expires_at = await kubeconfig.run_plugin(chosen, source.environment, seconds=source.plugin_seconds)
    configuration = _configuration(source)
    await kubeconfig.apply(chosen, configuration, directory)
    _strip_token(configuration)
    return Loaded(configuration, files, renewable, expires_at)


def _in_cluster(source: Source) -> Loaded:
    token, ca = (str(Path(source.service_account, name)) for name in ("token", "ca.crt"))
    files, configuration = Files([token, ca]), _configuration(source)
    loader = InClusterConfigLoader(token, ca, try_refresh_token=False, environ=source.environment)  # type: ignore[no-untyped-call]
    loader.load_and_set(configuration)  # type: ignore[no-untyped-call]
    _strip_token(configuration)
    return Loaded(configuration, files)


def _configuration(source: Source) -> Configuration:
    configuration = Configuration(host="")
    configuration.disable_strict_ssl_verification = source.disable_strict_x509
    return configuration


def _strip_token(configuration: Configuration) -> None:
    """Files end in a line break, which no header may hold."""
    if BEARER in configuration.api_key:
        configuration.api_key[BEARER] = configuration.api_key[BEARER].strip()
