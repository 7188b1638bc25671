import { BlockList, isIP } from 'node:net';

// Addresses that get no requests from this service, because only a node or a cloud instance should reach them. The author of a policy names the registry, and a
// registry names its token server. Loopback and private addresses are allowed, since registries run there.
const forbidden = new BlockList();
/** The forms of an IPv4 address within an IPv6 address, by its two halves, and how many bits precede it. BlockList itself finds ::ffff:a.b.c.d. */
const translations: readonly { readonly write: (high: string, low: string) => string; readonly before: number }[] = [
  { write: (high, low) => `64:ff9b::${high}:${low}`, before: 96 }, // NAT64
  { write: (high, low) => `64:ff9b:1::${high}:${low}`, before: 96 }, // NAT64 within one network
  { write: (high, low) => `::ffff:0:${high}:${low}`, before: 96 }, // SIIT
  { write: (high, low) => `::${high}:${low}`, before: 96 }, // IPv4-compatible
  { write: (high, low) => `2002:${high}:${low}::`, before: 16 }, // 6to4
];
for (const [network, prefix] of [
  ['169.254.0.0', 16], // link-local; the metadata service of most clouds
  ['100.100.100.200', 32], // Alibaba Cloud
  ['168.63.129.16', 32], // Azure's host agent
  ['192.0.0.192', 32], // Oracle Cloud
] as const) {
  forbidden.addSubnet(network, prefix, 'ipv4');
  const [a = 0, b = 0, c = 0, d = 0] = network.split('.').map(Number);
  for (const { write, before } of translations)
    forbidden.addSubnet(write((a * 256 + b).toString(16), (c * 256 + d).toString(16)), before + prefix, 'ipv6');
}
forbidden.addSubnet('fe80::', 10, 'ipv6'); // link-local
forbidden.addAddress('fd00:ec2::254', 'ipv6'); // AWS instance metadata
forbidden.addAddress('fd00:ec2::23', 'ipv6'); // AWS pod identity
forbidden.addAddress('fd20:ce::254', 'ipv6'); // Google Cloud

const forbiddenNames = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']);

/** Whether a host is link-local or a metadata service. `hostname`: a name or an IP address, as a URL has it. */
export function isForbiddenAddress(hostname: string): boolean {
  const host = plainHost(hostname);
  const family = isIP(host);
  if (family === 0) return forbiddenNames.has(host);
  // BlockList itself finds an IPv4 address that is mapped into IPv6.
  return forbidden.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** A host in the form in which addresses are written: in lower case, without brackets, zone and the dot at the end. */
export function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
    .replace(/\.$/, '');
}
