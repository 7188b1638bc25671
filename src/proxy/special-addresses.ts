import { BlockList, isIP } from 'node:net';

// The author of a policy names the registry, and a registry names its token server. Neither may make this service send requests to addresses that
// only a node or a cloud instance should reach. Loopback and private addresses are allowed, since registries run there.
const forbidden = new BlockList();
forbidden.addSubnet('169.254.0.0', 16, 'ipv4'); // link-local; the metadata service of most clouds
forbidden.addAddress('100.100.100.200', 'ipv4'); // Alibaba Cloud
forbidden.addAddress('168.63.129.16', 'ipv4'); // Azure's host agent
forbidden.addAddress('192.0.0.192', 'ipv4'); // Oracle Cloud
forbidden.addSubnet('fe80::', 10, 'ipv6'); // link-local
forbidden.addAddress('fd00:ec2::254', 'ipv6'); // AWS instance metadata
forbidden.addAddress('fd00:ec2::23', 'ipv6'); // AWS pod identity
forbidden.addAddress('fd20:ce::254', 'ipv6'); // Google Cloud
forbidden.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6'); // 169.254.0.0/16 behind NAT64
forbidden.addSubnet('2002:a9fe::', 32, 'ipv6'); // 169.254.0.0/16 in 6to4

const forbiddenNames = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']);

/** Whether a host is link-local or a metadata service. `hostname`: a name or an IP address, as a URL has it. */
export function isForbiddenAddress(hostname: string): boolean {
  const host = plainHost(hostname);
  const family = isIP(host);
  if (family === 0) return forbiddenNames.has(host);
  // An IPv4 address mapped into IPv6 is found by BlockList itself.
  return forbidden.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** A host as addresses are written: in lower case, without brackets, zone and the dot at the end. */
export function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
    .replace(/\.$/, '');
}
