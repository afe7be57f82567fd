"""Where the client may connect: which URLs, which ports, which addresses.

A URL is settings or a stranger's redirect; the network behind us answers to neither. What is checked here is the
very address that is then connected to, so a name that resolves differently a moment later changes nothing.
"""

import ipaddress
import queue
import socket
import threading
from typing import Any

from msgspec import Struct

from chalicelib.kernel import settings

_LONGEST_URL = 2048
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FIRST_FREE_PORT = 1024

# Inside what the registries call global, and still not the open internet: relays, translations, benchmarks.
_NOT_V4 = [ipaddress.ip_network(net) for net in ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15")]
_ONLY_V6 = ipaddress.ip_network("2000::/3")
_NOT_V6 = [ipaddress.ip_network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Unreachable(Exception):
    """`refused` is true when we will not connect, false when the name has no address."""

    def __init__(self, reason: str, refused: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.refused = refused


class Target(Struct, frozen=True):
    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def target(url: str) -> Target:
    """The URL taken apart once, by the parser of the client that will use it: two parsers would disagree."""
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    if len(url) > _LONGEST_URL or any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in url):
        raise Unreachable("the URL is too long or contains control characters", refused=True)
    try:
        parts = parse_url(url.strip())
    except LocationParseError:
        raise Unreachable("the URL is not valid", refused=True) from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.host:
        raise Unreachable("only http and https URLs are allowed", refused=True)
    if parts.auth is not None:
        raise Unreachable("the URL contains credentials", refused=True)
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    if port not in _DEFAULT_PORTS.values() and port < _FIRST_FREE_PORT:
        raise Unreachable("the port is reserved for another service", refused=True)
    return Target(parts.scheme, parts.host.strip("[]"), port, parts.request_uri)


def addresses(host: str, port: int, seconds: float) -> list[str]:
    """Every address of the host, each of them allowed; one that is not refuses the host."""
    found = list(dict.fromkeys(str(info[4][0]) for info in _resolved(host, port, seconds)))
    loopback_too = settings.current().local
    if not all(allowed(address, loopback_too) for address in found):
        raise Unreachable("the host is not on the public internet", refused=True)
    return found


def allowed(address: str, loopback_too: bool = False) -> bool:
    ip = _plain(ipaddress.ip_address(address))
    if ip.is_loopback:
        return loopback_too
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _ONLY_V6 and not any(ip in network for network in _NOT_V6)
    if any(ip in network for network in _NOT_V4):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _plain(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An IPv4 address is judged as one, in whichever IPv6 clothes it comes."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            return ip.ipv4_mapped
        if ip in _NAT64:
            return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _resolved(host: str, port: int, seconds: float) -> list[Any]:
    """Resolve on the side: the resolver's own patience is longer than ours and cannot be set."""
    answers: queue.SimpleQueue[list[Any] | Exception] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as failure:
            answers.put(failure)

    threading.Thread(target=resolve, daemon=True).start()
    try:
        found = answers.get(timeout=max(seconds, 0.01))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(found, socket.gaierror) and found.errno == socket.EAI_AGAIN:
        raise TimeoutError  # the name servers were silent, which says nothing of the name
    if not found or isinstance(found, Exception):
        raise Unreachable("the host name has no address", refused=False)
    return found
