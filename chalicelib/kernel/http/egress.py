"""Where the client may connect: which URLs, which ports, which addresses.

URLs come from settings and from the redirects of strangers, and neither may reach the internal network. The address
checked here is the one that is connected to, so a name that resolves differently a moment later does not matter.
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

# Global by the registries, but not the public internet: relays, translations, benchmarks.
_NOT_V4 = [ipaddress.ip_network(net) for net in ("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15")]
_ONLY_V6 = ipaddress.ip_network("2000::/3")
_NOT_V6 = [ipaddress.ip_network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Unreachable(Exception):
    """`refused` is true when connecting is not allowed, false when the name has no address."""

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
    """Parsed once, by the parser of the client that uses it: two parsers could disagree."""
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    if len(url) > _LONGEST_URL or any(ord(character) < 0x20 or ord(character) == 0x7F for character in url):
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
    """Every address of the host. Refuses the host if one of them is not allowed."""
    found = list(dict.fromkeys(str(info[4][0]) for info in _resolve(host, port, seconds)))
    loopback_too = settings.current().local
    if not all(allowed(address, loopback_too) for address in found):
        raise Unreachable("the host is not on the public internet", refused=True)
    return found


def allowed(address: str, loopback_too: bool = False) -> bool:
    ip = _unmapped(ipaddress.ip_address(address))
    if ip.is_loopback:
        return loopback_too
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _ONLY_V6 and not any(ip in network for network in _NOT_V6)
    if any(ip in network for network in _NOT_V4):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _unmapped(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IPv4 address inside an IPv6 address that stands for one."""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            return ip.ipv4_mapped
        if ip in _NAT64:
            return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _resolve(host: str, port: int, seconds: float) -> list[Any]:
    """In a thread, because the resolver's own timeout is longer and cannot be changed."""
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
        raise TimeoutError  # the name servers did not answer, which says nothing about the name
    if not found or isinstance(found, Exception):
        raise Unreachable("the host name has no address", refused=False)
    return found
