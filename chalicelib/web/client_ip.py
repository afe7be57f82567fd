"""Who sent a request, and from which network: the address of the connection or, if that is Cloudflare, the one
Cloudflare reports."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from chalicelib.kernel import settings
from chalicelib.web.request import Request

# Published by Cloudflare. The header is trusted only on connections from these networks, because anybody who finds
# the address of the API Gateway can send it any header.
_CLOUDFLARE = """
173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18 190.93.240.0/20
188.114.96.0/20 197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13
131.0.72.0/22 2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32 2a06:98c0::/29
2c0f:f248::/32
"""


def client_ip(request: Request) -> str:
    """One client: an IPv4 address, or the /64 network of an IPv6 address."""
    address = _client(request)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return str(address) if address else "unknown"


def client_network(request: Request) -> str | None:
    """What one household, office or host is usually given: 256 IPv4 addresses, or a /48 of IPv6. None on this
    machine, where everybody would be one network."""
    address = _client(request)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address is None or address.is_loopback:
        return None
    return str(ip_network((address, 24 if isinstance(address, IPv4Address) else 48), strict=False))


def _client(request: Request) -> IPv4Address | IPv6Address | None:
    address = _parse(request.source_ip)
    if address and settings.current().behind_cloudflare and _is_cloudflare(address):
        address = _parse(request.headers.get("cf-connecting-ip", "")) or address
    return address


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _is_cloudflare(address: IPv4Address | IPv6Address) -> bool:
    return any(address in network for network in _cloudflare_networks())


@lru_cache(maxsize=1)
def _cloudflare_networks() -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in _CLOUDFLARE.split())
