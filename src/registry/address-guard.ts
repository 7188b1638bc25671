import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PermanentError } from '../model/errors.ts';

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

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // shared by carriers, and by clouds for nodes and pods
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['240.0.0.0', 4],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127], // unspecified and loopback
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv6');
}
/** Names that resolve only inside a private network. */
const privateName = /^[^.]+$|\.(?:local|localhost|internal|intranet|lan|corp|home\.arpa|svc)$/;

/** Whether a host can be reached only from inside a private network. `hostname`: a name or an IP address, as a URL or DNS has it. */
export function isPrivateAddress(hostname: string): boolean {
  const host = plainHost(hostname);
  const family = isIP(host);
  if (family === 0) return privateName.test(host);
  if (family === 4) return privateAddresses.check(host, 'ipv4');
  // A NAT64 or 6to4 address may contain any IPv4 address, so all of them count as private.
  return privateAddresses.check(host, 'ipv6') || /^(?:64:ff9b::|2002:)/.test(host);
}

function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
    .replace(/\.$/, '');
}

/** A DNS lookup for sockets that fails with PermanentError(RegistryRefused) if any of the addresses is forbidden. `onAddresses` gets those of each other name. */
export function guardedLookup(
  lookup: LookupFunction = systemLookup,
  onAddresses: (hostname: string, addresses: readonly string[]) => void = () => undefined,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error) return callback(error, address, family);
      const addresses = typeof address === 'string' ? [address] : address.map((entry) => entry.address);
      const bad = addresses.find(isForbiddenAddress);
      if (bad !== undefined) return callback(refusedAddress(`${hostname}, which is ${bad},`), '', 0);
      onAddresses(hostname, addresses);
      callback(null, address, family);
    });
  };
}

/** The error for a host that must not get requests. */
export function refusedAddress(host: string): PermanentError {
  return new PermanentError('RegistryRefused', `${host} is a link-local or metadata address, to which no requests are sent`);
}
