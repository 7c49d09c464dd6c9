const portOf = (address: string): string | undefined => /^(?:https:\/\/)?(?:\[.*\]|[^:]*):(\d{1,5})\/?$/.exec(address.trim())?.[1]

/** printing returns the command that prints, on the host itself, the fingerprint of its certificate. The first address with a port decides. */
export function printing(...addresses: string[]): string {
  const port = addresses.map(portOf).find(Boolean) ?? 443
  return `openssl s_client -connect 127.0.0.1:${port} </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256`
}
